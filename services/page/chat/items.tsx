import { ApprovalCard } from '../approvals/approval-card.tsx';
import { Icon } from '../parts/icon.tsx';
import { readable } from '../parts/json-text.ts';
import { Markdown } from '../parts/markdown.tsx';
import { spanText, Time } from '../parts/time.tsx';
import type { ApprovalItem, ChatItem, MarkItem, SaidItem, ToolItem } from './chat-model.ts';

const Said = ({ item }: { readonly item: SaidItem }) => {
  const { role, text, sender, at, isGrowing = false, isEdited } = item;
  return (
    <article class={`said said-${role}`} aria-busy={isGrowing ? 'true' : undefined}>
      <header>
        <span class="said-who">
          {role === 'assistant' ? 'Agent' : (sender?.name ?? (sender?.role === 'owner' ? 'Owner' : sender?.id))}
        </span>
        {at > 0 && <Time at={at} />}
        {isEdited && <span>edited</span>}
      </header>
      {role === 'assistant' ? <Markdown text={text} growing={isGrowing} /> : <p class="plain">{text}</p>}
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

const answerWords = { granted: 'Allowed', denied: 'Denied', expired: 'Expired' } as const;
const Approval = ({ item, sessionKey }: { readonly item: ApprovalItem; readonly sessionKey: string }) => {
  const { request, answer, at } = item;
  const answered = answer && `${answerWords[answer.verdict]} by ${answer.by}`;
  const { approvalId, tool, action, asks = 'run', expiresAt, onceOnly = false } = request;
  return <ApprovalCard asked={{ approvalId, sessionKey, tool, action, asks, requestedAt: at, expiresAt, onceOnly, answered }} />;
};

const Mark = ({ item }: { readonly item: MarkItem }) => (
  <p class={`mark mark-${item.tone}`}>
    <span>{item.text}</span>
  </p>
);

/** One item of a chat. */
export const Item = ({ item, sessionKey }: { readonly item: ChatItem; readonly sessionKey: string }) => {
  switch (item.kind) {
    case 'said':
      return <Said item={item} />;
    case 'tool':
      return <Tool item={item} />;
    case 'approval':
      return <Approval item={item} sessionKey={sessionKey} />;
    case 'mark':
      return <Mark item={item} />;
  }
};
