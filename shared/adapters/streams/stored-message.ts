import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { errorMessage, NatterError } from '../../kit/errors.ts';
import type { StoredCommit } from '../../ports/event-log.ts';
import { decodeCommit } from '../../wire/codec.ts';
import type { Subjects } from '../../wire/subjects.ts';

/** A message of the event stream as stored; any program with publish rights may have written it. `time` in ms. */
export interface StoredMessage {
  readonly subject: string;
  readonly seq: number;
  readonly time: number;
  readonly data: Uint8Array;
}

/** One read of a stream. `more`: further messages follow. */
export interface MessageBatch {
  readonly messages: readonly StoredMessage[];
  readonly more: boolean;
}

/** Called for each message that is skipped because it is not a commit. */
export type OnBad = (bad: { readonly seq: number; readonly subject: string; readonly error: NatterError }) => void;

/** Decodes a stored message as a commit of the key in its subject. `own`: see `decodeCommit`. Throws `quarantined` with key and sequence. */
export const commitOf = ({ subject, seq, time, data }: StoredMessage, subjects: Subjects, own?: string): RecordedCommit => {
  let key = subject;
  try {
    key = subjects.keyOfEvent(subject);
    const commit = decodeCommit(data, seq, time, own);
    if (commit.key === key) return commit;
    throw new NatterError('invalid', `it says it belongs to ${commit.key}`);
  } catch (cause) {
    throw new NatterError('quarantined', `message ${seq} of ${key} is not a commit: ${errorMessage(cause)}`, { cause });
  }
};

/** The message as it is, with the key that its subject names. */
export const storedCommit = (message: StoredMessage, subjects: Subjects): StoredCommit => {
  const { seq, time, data } = message;
  return { seq, recordedAt: time, bytes: data, key: keyIn(message, subjects) };
};

/** The key that the subject names; an unreadable subject is its own key. */
export const keyIn = ({ subject }: StoredMessage, subjects: Subjects): string => {
  try {
    return subjects.keyOfEvent(subject);
  } catch {
    return subject;
  }
};

/**
 * Like `commitOf`, for readers of many keys: one bad message must not stop the others, so it is reported and skipped. The place of a lost
 * commit is skipped in silence.
 */
export const commitOrNull = (message: StoredMessage, subjects: Subjects, onBad: OnBad, own?: string): RecordedCommit | null => {
  if (message.subject === subjects.lost) return null;
  try {
    return commitOf(message, subjects, own);
  } catch (error) {
    if (!(error instanceof NatterError)) throw error;
    onBad({ seq: message.seq, subject: message.subject, error });
    return null;
  }
};
