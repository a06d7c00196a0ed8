import { Conversation } from '../../../../services/session/prompt/conversation.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { TurnView } from '../../../../shared/domain/prompt/conversation-message.ts';
import type { ModelMessage } from '../../../../shared/domain/prompt/model-request.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { Position } from '../../../../shared/domain/session/fold/evolve.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import type { EventLog } from '../../../../shared/ports/event-log.ts';

/** One line of text for a message, short enough to read a conversation at a glance. */
export const rowOf = (message: ModelMessage): string => {
  const text = message.text.replace(/^text of /, '');
  if (message.role === 'user') return message.name === 'natter' ? `natter: ${text}` : text;
  if (message.role === 'tool') return `${message.callId} ${message.outcome}`;
  const calls = (message.calls ?? []).map(({ callId }) => callId);
  return `> ${[...(text === '' ? [] : [text]), ...(calls.length > 0 ? [`calls ${calls.join(' ')}`] : [])].join(' ')}`;
};

/** A conversation that has read these commits. */
export const conversationOf = (commits: Iterable<RecordedCommit>): Conversation => {
  const conversation = new Conversation();
  for (const commit of commits) conversation.add(commit);
  return conversation;
};

/** A conversation that has read what the position says, and nothing else. */
export const rereadOf = (
  commits: readonly RecordedCommit[],
  { seq: through, contextSeq, skips }: Pick<Position, 'seq' | 'contextSeq' | 'skips'>,
): Conversation =>
  conversationOf(
    commits.filter(
      ({ seq }) => seq >= contextSeq && seq <= through && !skips.some(({ after, until }) => seq > after && seq < until),
    ),
  );

export const rowsOf = ({ said }: Pick<TurnView, 'said'>): string[] => said.map(({ message }) => rowOf(message));

/** Why a provider would not take these messages: calls and results that are apart. Empty: it would. */
export const problemsOf = (messages: readonly ModelMessage[]): string[] => {
  const problems: string[] = [];
  let expected: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const next = expected.shift();
      if (next !== message.callId) problems.push(`result of ${message.callId} where that of ${next} should be`);
      continue;
    }
    if (expected.length > 0) problems.push(`no result of ${expected.join(' ')}`);
    expected = message.role === 'assistant' ? (message.calls ?? []).map(({ callId }) => callId) : [];
    if (message.role === 'assistant' && message.text === '' && expected.length === 0) problems.push('an empty answer');
  }
  return expected.length > 0 ? [...problems, `no result of ${expected.join(' ')}`] : problems;
};

/** A log of these commits that remembers which of them were read. */
export const logOf = (commits: readonly RecordedCommit[]) => {
  const read: number[] = [];
  const events = {
    read: async function* (of: SessionKey, { after = 0 }: { after?: number } = {}) {
      for (const commit of commits) {
        if (commit.key !== of || commit.seq <= after) continue;
        read.push(commit.rev);
        yield commit;
      }
    },
  } as unknown as EventLog;
  const clock: Clock = { now: () => 0, monotonic: () => 0, sleep: async () => {} };
  return { events, clock, read: () => read.splice(0) };
};
