import { useState } from 'preact/hooks';
import { decidedBy } from '../../../shared/domain/values/decided-by.ts';
import { ApprovalCard } from '../approvals/approval-card.tsx';
import { linkTo } from '../base/route.ts';
import { mayWrite } from '../base/signed-in.ts';
import { Icon } from '../parts/icon.tsx';
import { readable } from '../parts/json-text.ts';
import { Markdown } from '../parts/markdown.tsx';
import { spanText, Time } from '../parts/time.tsx';
import type { ApprovalItem, ChatItem, MarkItem, SaidItem, ToolItem } from './chat-model.ts';
import type { ChatStore } from './chat-store.ts';

/** Edits a message, or sends it again: both continue from before it. */
const EditOrRetry = ({ item, store }: { readonly item: SaidItem; readonly store: ChatStore }) => {
  const [draft, setDraft] = useState<string | null>(null);
  const send = (text: string): void => {
    setDraft(null);
    void store.replace(item, text);
  };
  if (draft === null)
    return (
      <p class="said-actions">
        <button type="button" class="button button-quiet" onClick={() => setDraft(item.text)}>
          Edit
        </button>
        <button type="button" class="button button-quiet" onClick={() => send(item.text)}>
          Try again
        </button>
      </p>
    );
  return (
    <form
      class="said-edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.trim() !== '') send(draft.trim());
      }}
    >
      <textarea
        aria-label="Edited message"
        rows={Math.min(8, draft.split('\n').length + 1)}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
      />
      <p class="hint">The conversation goes on from here, in a new generation. What came after stays in the log.</p>
      <p class="said-actions">
        <button type="button" class="button" onClick={() => setDraft(null)}>
          Cancel
        </button>
        <button type="submit" class="button button-first" disabled={draft.trim() === ''}>
          Send instead
        </button>
      </p>
    </form>
  );
};

const Said = ({ item, store }: { readonly item: SaidItem; readonly store: ChatStore }) => {
  const { role, text, sender, at, isGrowing = false, isEdited, isQueued = false } = item;
  return (
    <article class={`said said-${role}`} aria-busy={isGrowing ? 'true' : undefined}>
      <header>
        <span class="said-who">
          {role === 'assistant' ? 'Agent' : (sender?.name ?? (sender?.role === 'owner' ? 'Owner' : sender?.id))}
        </span>
        {at > 0 && <Time at={at} />}
        {isEdited && <span>edited</span>}
        {isQueued && <span class="said-queued">waits in the queue</span>}
      </header>
      {role === 'assistant' ? <Markdown text={text} growing={isGrowing} /> : <p class="plain">{text}</p>}
      {role === 'user' && item.isLeft !== true && mayWrite() && <EditOrRetry item={item} store={store} />}
    </article>
  );
};

const toolWords: Readonly<Record<ToolItem['status'], string>> = {
  waiting: 'waits',
  running: 'running',
  ok: 'done',
  error: 'failed',
  denied: 'denied',
  expired: 'expired',
  unknown: 'unknown outcome',
};

const Tool = ({ item }: { readonly item: ToolItem }) => (
  <details class={`tool tool-${item.status}`}>
    <summary>
      <Icon name="tool" />
      <code>{item.tool}</code>
      <span class="tool-status">{toolWords[item.status]}</span>
      {item.endedAt !== undefined && <span class="tool-time">{spanText(item.endedAt - item.at)}</span>}
    </summary>
    <h4>Arguments</h4>
    <pre>{readable(item.given)}</pre>
    {item.result !== undefined && (
      <>
        <h4>Result</h4>
        <pre>{item.result}</pre>
      </>
    )}
  </details>
);

const answerWords = { granted: 'Allowed', denied: 'Denied' } as const;
const Approval = ({ item, sessionKey }: { readonly item: ApprovalItem; readonly sessionKey: string }) => {
  const { request, answer, at } = item;
  const answered =
    answer && (answer.verdict === 'expired' ? 'Expired' : `${answerWords[answer.verdict]} ${decidedBy(answer.by)}`);
  const { approvalId, tool, action, asks = 'run', expiresAt, onceOnly = false } = request;
  return <ApprovalCard asked={{ approvalId, sessionKey, tool, action, asks, requestedAt: at, expiresAt, onceOnly, answered }} />;
};

const Mark = ({ item, sessionKey }: { readonly item: MarkItem; readonly sessionKey: string }) => {
  const { seq, text, tone, explains } = item;
  const query = { at: `${seq}`, compare: explains === 'fork' ? `${seq}` : undefined };
  return (
    <p class={`mark mark-${tone}`}>
      <span>
        {text}
        {explains !== undefined && (
          <>
            {' '}
            <a href={linkTo(['sessions', sessionKey, 'time'], query)}>
              {explains === 'fork' ? 'Compare with what was left behind' : 'Show that moment'}
            </a>
          </>
        )}
      </span>
    </p>
  );
};

/** One item of a chat. */
export const Item = ({ item, store }: { readonly item: ChatItem; readonly store: ChatStore }) => {
  switch (item.kind) {
    case 'said':
      return <Said item={item} store={store} />;
    case 'tool':
      return <Tool item={item} />;
    case 'approval':
      return <Approval item={item} sessionKey={store.key} />;
    case 'mark':
      return <Mark item={item} sessionKey={store.key} />;
  }
};
