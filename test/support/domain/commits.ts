import { randomUUID } from 'node:crypto';
import { type SessionKey, sessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Commit, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { LogWitness } from '../../../shared/domain/session/log-witness.ts';
import { digestOf, encodeCommit } from '../../../shared/wire/codec.ts';

/** A checked session key. */
export const keyOf = (text: string): SessionKey => sessionKey.parse(text);

/** What a reader has seen that noted nothing but how far it came. */
export const seenAt = (seq: number): LogWitness => ({ incarnation: null, seq, digest: null });

/** A key no other test uses. */
export const freshKey = (start = 'agent:main:test'): SessionKey => keyOf(`${start}:${randomUUID()}`);

export const userMessage = (text: string, messageId: string = randomUUID()): SessionEvent => ({
  type: 'user_message',
  v: 1,
  message: { messageId, text, sender: { id: 'ann' } },
  turnId: 'turn-1',
});
/** A message with a file of each digest. */
export const messageWithFiles = (...digests: string[]): SessionEvent => ({
  type: 'user_message',
  v: 1,
  message: {
    ...{ messageId: randomUUID(), text: 'look', sender: { id: 'ann' } },
    attachments: digests.map((digest) => ({ type: 'text/plain', bytes: 4, digest })),
  },
  turnId: 'turn-1',
});
export const assistantMessage = (text: string): SessionEvent => ({
  type: 'assistant_message',
  v: 1,
  turn: { id: 'turn-1', attempt: 1 },
  messageId: randomUUID(),
  text,
});
export const turnStarted = (id = 'turn-1'): SessionEvent => ({
  type: 'turn_started',
  v: 1,
  turn: { id, messageId: 'message-1' },
  attempt: 1,
});
export const turnCompleted = (id = 'turn-1'): SessionEvent => ({ type: 'turn_completed', v: 1, turn: { id, attempt: 1 } });
export const sessionDeactivated = (reason = 'idle'): SessionEvent => ({ type: 'session_deactivated', v: 1, reason });

/** A valid commit; say what the test is about, the rest is made up. Each has an id of its own. */
export const commitTo = (key: SessionKey, change: Partial<Commit> = {}): Commit => {
  const id = randomUUID();
  return {
    v: 1,
    id,
    key,
    rev: 1,
    sessionId: 'session-1',
    epoch: 0,
    at: 1_790_000_000_000,
    correlationId: id,
    causationId: id,
    actor: 'test',
    command: { id, seq: 1, incarnation: 1 },
    events: [userMessage('hello')],
    ...change,
  };
};

/** The commit as the log gives it back. */
export const recorded = (commit: Commit, seq: number, recordedAt = 1): RecordedCommit => ({
  ...{ ...commit, seq, recordedAt },
  ...{ digest: digestOf(encodeCommit(commit)), sizeBytes: encodeCommit(commit).byteLength },
});
/** What was appended for it. */
export const unrecorded = ({ seq: _, recordedAt: __, digest: ___, sizeBytes: ____, ...commit }: RecordedCommit): Commit => commit;
