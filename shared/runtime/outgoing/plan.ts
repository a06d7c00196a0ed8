import type { Config } from '../../domain/config/schema.ts';
import { sendDecision } from '../../domain/send-policy/send-policy.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import type { EventOf, EventType } from '../../domain/session/events.ts';
import { sessionChannel } from '../../domain/values/types.ts';
import type { Outbound } from '../../ports/custody-log.ts';
import { traceHeader } from '../../wire/cloudevents.ts';
import { type Content, contentOf } from './content.ts';

/**
 * The headlines of commits that may have something to send; other commits are not read at all. A notice may come alone or beside one of the
 * others, and so may runs that must end; a deletion may end a run.
 */
export const outboundHeadlines: readonly EventType[] = [
  'approval_requested',
  'assistant_message',
  'turn_failed',
  'turn_aborted',
  'session_deleted',
  'approval_resolved',
  'notice',
  'runs_stopped',
  'delivery_repeated',
];

/**
 * What a commit sends, to whom and in which order; what is not sent has its `suppressedReason`. Pure: the same commit gives the same
 * outbounds with the same ids on every read, so reading the log again is harmless. Messages without `deliverTo` are not here: their readers
 * follow the event stream, which needs no custody.
 */
export const plan = (commit: RecordedCommit, policy: Config['session']['sendPolicy']): Outbound[] =>
  commit.events.flatMap((event, index): Outbound[] => {
    const id = `${commit.seq}.${index}`;
    if (event.type === 'runs_stopped') return stops(commit, event, id);
    const content = contentOf(event, commit);
    if (content?.target === undefined) return [];
    const { override: _, target, ...rest } = content;
    const suppressedReason = suppressionOf(commit, content, policy);
    const outbound = { id, seq: commit.seq, key: commit.key, target, ...rest, ...traceHeader(commit) };
    return [{ ...outbound, ...(suppressedReason !== undefined && { suppressedReason }) }];
  });

/** Why an outbound is not sent. The send policy is about people, not about sessions (A9/98); the end of a run is always sent. */
const suppressionOf = (
  { key }: RecordedCommit,
  { target, text, override }: Content,
  policy: Config['session']['sendPolicy'],
): string | undefined => {
  const isSilent = text === '' && target?.threadId === undefined;
  if (target?.channel === sessionChannel) return isSilent ? nothingToSay : undefined;
  const { action, rule } = sendDecision(policy, { key, channel: target?.channel, override });
  if (action === 'deny') return `denied by ${rule}`;
  return text === '' ? nothingToSay : undefined;
};
const nothingToSay = 'there is nothing to say';

/** One outbound for each run that must end (A11/125). */
const stops = (commit: RecordedCommit, { runs, reason }: EventOf<'runs_stopped'>, id: string): Outbound[] =>
  runs.map((run, index) => ({
    id: `${id}.${index}`,
    ...{ seq: commit.seq, key: commit.key, ...traceHeader(commit) },
    target: { channel: sessionChannel, to: run.key, threadId: run.runId },
    kind: 'stop',
    text: reason,
    turnId: commit.correlationId,
  }));
