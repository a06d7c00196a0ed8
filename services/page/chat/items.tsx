import { messageText } from '../../../shared/domain/prompt/sub-agent-message.ts';
import { sendingSession } from '../../../shared/domain/values/person-words.ts';
import { spanText } from '../../../shared/kit/text/span-text.ts';
import { answerText, unansweredText } from '../approvals/answer-text.ts';
import { ApprovalCard } from '../approvals/approval-card.tsx';
import { FoldedFacts } from '../approvals/approval-facts.tsx';
import { useWorkspace, WhereItRuns } from '../approvals/where-it-runs.tsx';
import { draftOf, keepDraft } from '../base/draft.ts';
import { linkTo, listQuery } from '../base/route.ts';
import { mayWrite } from '../base/signed-in.ts';
import { DeliveryNote } from '../deliveries/delivery-note.tsx';
import { SessionLink } from '../finding/session-link.tsx';
import { lazy } from '../loading/lazy.tsx';
import { hostOf } from '../parts/host.ts';
import { ErrorMark, Icon } from '../parts/icon.tsx';
import { readable } from '../parts/json-text.ts';
import { Markdown } from '../parts/markdown.tsx';
import { decidedText, personOf } from '../parts/person.ts';
import { Time } from '../parts/time.tsx';
import { asWritten, EditMessage, editDraft, MessageActions, TryAgain } from './again.tsx';
import { isAskedFor } from './asked-message.ts';
import type { ApprovalItem, ChatItem, MarkItem, ReasoningItem, SaidItem, ToolItem } from './chat-model.ts';
import type { ChatStore } from './chat-store.ts';
import { hasRun } from './consequences.ts';
import { isRepeatable } from './failed.ts';
import { markWords } from './resets.ts';

const MessageFiles = lazy(() => import('../files/message-files.tsx'));

const Said = ({ item, store }: { readonly item: SaidItem; readonly store: ChatStore }) => {
  const { role, text, sender, attachments, actor, at, isGrowing = false, isEdited, isQueued = false, isUnanswered } = item;
  const from = sendingSession(sender);
  const draftName = editDraft({ item, store });
  const close = (): void => {
    store.edit(null);
    store.field.current?.focus();
  };
  const end = (): void => {
    keepDraft(draftName, null);
    close();
  };
  const isMine = isRepeatable(item) && from === undefined && mayWrite();
  const isEditing = isMine && store.editing.value === item.id;
  const takeBack = () => void store.takeBack(item, isMine ? asWritten(text) : null);
  return (
    <article
      class={`said said-${role} ${isEditing ? 'said-editing' : ''} ${isAskedFor(item.event) ? 'said-found' : ''}`}
      data-event={item.event}
      aria-busy={isGrowing ? 'true' : undefined}
    >
      <header>
        <span class="said-who">
          {role === 'assistant' ? 'Agent' : personOf(sender, actor)}
          {from !== undefined && ': '}
          {from !== undefined && <SessionLink sessionKey={from} />}
        </span>
        {at > 0 && <Time at={at} />}
        {isEdited && <span>edited</span>}
        {isUnanswered && <span>not said to the agent: kept for it to read, not answered</span>}
        {item.isDropped && <span>not answered: {item.isTakenBack ? 'taken back' : 'stopped'} before its turn</span>}
        {isQueued && <span class="said-queued">waits in the queue</span>}
      </header>
      {role === 'assistant' && <Markdown text={text} growing={isGrowing} />}
      {role === 'user' && !isEditing && text !== '' && <p class="plain">{messageText(item)}</p>}
      {isEditing && <EditMessage {...{ item, store, close, end }} draft={draftOf(draftName) ?? asWritten(text)} />}
      {attachments && attachments.length > 0 && <MessageFiles sessionKey={store.key} files={attachments} />}
      {item.sentTo && !item.isGone && <DeliveryNote sessionKey={store.key} {...item.sentTo} newest={store.newestSent} />}
      {isQueued && mayWrite() && (
        <div class="said-actions">
          <button type="button" class="button button-quiet" onClick={takeBack}>
            Take back
          </button>
        </div>
      )}
      {isMine && !isEditing && !isQueued && <MessageActions item={item} store={store} edit={() => store.edit(item.id)} />}
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
  stopped: 'stopped',
};

const Tool = ({ item: { isUndone = false, ...told } }: { readonly item: ToolItem }) => {
  const item: ToolItem = isUndone ? { ...told, status: 'stopped', result: undefined, endedAt: undefined } : told;
  return (
    <details class={`tool tool-${item.status}`}>
      <summary>
        <Icon name="next" />
        <code>{item.tool}</code>
        <span class="tool-status">{toolWords[item.status]}</span>
        {item.endedAt !== undefined && hasRun(item) && <span class="tool-time">{spanText(item.endedAt - item.at)}</span>}
      </summary>
      {item.spawnedKey !== undefined && (
        <p>
          Sub-agent: <SessionLink sessionKey={item.spawnedKey} />
        </p>
      )}
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
};

const Reasoning = ({ item: { text } }: { readonly item: ReasoningItem }) => (
  <details class="tool">
    <summary>
      <Icon name="next" />
      Reasoning
    </summary>
    <p class="plain">{text}</p>
  </details>
);

const Where = ({ request: { action, actor } }: Pick<ApprovalItem, 'request'>) => (
  <FoldedFacts words="Where it runs">
    <WhereItRuns action={action} workspace={useWorkspace()} host={hostOf(actor)} />
  </FoldedFacts>
);

const Approval = ({ item, sessionKey }: { readonly item: ApprovalItem; readonly sessionKey: string }) => {
  const { request, answer, at, unanswered } = item;
  const answered = unanswered ? unansweredText(unanswered) : answer && answerText(answer);
  const { approvalId, tool, action, asks = 'run', expiresAt, onceOnly = false } = request;
  return (
    <ApprovalCard
      asked={{
        approvalId,
        sessionKey,
        tool,
        action,
        asks,
        requestedAt: at,
        expiresAt,
        onceOnly,
        answered,
        answeredAt: (unanswered ?? answer)?.at,
      }}
      facts={answered === undefined && <Where request={request} />}
    />
  );
};

/** The link to more of what a mark says. */
const More = ({ item: { leadsTo, tone, seq }, sessionKey }: { readonly item: MarkItem; readonly sessionKey: string }) => {
  if (leadsTo === undefined) return null;
  if (leadsTo === 'transcript')
    return <a href={linkTo(['sessions', sessionKey, 'transcript'], listQuery())}>Open the transcript</a>;
  // Of an error people want to see what was before it.
  const isBefore = leadsTo === 'moment' && tone === 'bad';
  const moment = { at: `${isBefore ? seq - 1 : seq}`, compare: leadsTo === 'fork' ? `${seq}` : undefined };
  return (
    <a href={linkTo(['sessions', sessionKey, 'time'], { ...listQuery(), ...moment })}>
      {leadsTo === 'fork' ? 'Compare with what was left behind' : isBefore ? 'Show the moment before' : 'Show that moment'}
    </a>
  );
};

const Mark = ({ item, store: { key, commands } }: { readonly item: MarkItem; readonly store: ChatStore }) => {
  const { at, tone, advice, by, runId, unremembered, isBeginning } = item;
  const { text, rest } = markWords(item);
  const command = runId !== undefined && commands.value.get(runId);
  const isError = tone === 'bad';
  const hasLines = text.includes('\n');
  // The time follows a sentence, which ends behind it; it is above what has lines.
  const words = by === undefined ? text : `${text} ${decidedText(by.actor)}${rest}`;
  const said = hasLines ? words : words.replace(/\.$/, '');
  return (
    <p class={`mark mark-${tone} ${hasLines ? 'mark-lines' : ''} ${isBeginning ? 'mark-beginning' : ''}`}>
      <span>
        {command && <code>{command}</code>}
        {command && hasLines && ' '}
        {hasLines && <Time at={at} />}
        {(command || hasLines) && <br />}
        {isError && <ErrorMark />}
        {said}
        {!hasLines && ', '}
        {!hasLines && <Time at={at} />}
        {item.leadsTo !== undefined && ' '}
        <More item={item} sessionKey={key} />
        {unremembered && (
          <>
            <br />
            {`Nothing of it was remembered: ${unremembered.why} `}
            <a href={linkTo(['sessions', key, 'time'], { ...listQuery(), at: `${unremembered.seq}` })}>
              Show the checkpoint that failed
            </a>
          </>
        )}
        {advice && (
          <>
            <br />
            {advice}
          </>
        )}
      </span>
    </p>
  );
};

/** Below the error that came last: what is most wanted there. */
const AgainBelow = ({ item, store }: { readonly item: MarkItem; readonly store: ChatStore }) => {
  const failed = store.failed.value;
  if (failed?.mark !== item || !mayWrite()) return null;
  return (
    <div class="mark-actions">
      {isRepeatable(failed.message) ? (
        <TryAgain item={failed.message} store={store} style="" />
      ) : (
        <p class="hint">Only its sender can ask this again.</p>
      )}
    </div>
  );
};

/** One item of a chat. */
export const Item = ({ item, store }: { readonly item: ChatItem; readonly store: ChatStore }) => {
  switch (item.kind) {
    case 'said':
      return <Said item={item} store={store} />;
    case 'tool':
      return <Tool item={item} />;
    case 'reasoning':
      return <Reasoning item={item} />;
    case 'approval':
      return <Approval item={item} sessionKey={store.key} />;
    case 'mark':
      return (
        <>
          <Mark item={item} store={store} />
          {item.failedTurnId !== undefined && <AgainBelow item={item} store={store} />}
        </>
      );
  }
};
