import { escapeControls } from '../../kit/scrub.ts';
import type { SessionKey } from '../keys/session-key.ts';
import type { RecordedCommit } from '../session/envelope.ts';
import { sessionIdsOf } from './session-ids.ts';
import { transcriptMessages } from './transcript.ts';

/**
 * A session's transcript as JSON Lines (A2/16): a header for each generation, followed by its messages as in `sessions_history`.
 */

/**
 * An event's position in the log: the commit's sequence and the index in the commit. Written `<seq>.<index>`, it is the event's
 * id.
 */
export interface EventPosition {
  readonly seq: number;
  readonly index: number;
}
export const isLater = (one: EventPosition, other: EventPosition): boolean =>
  one.seq === other.seq ? one.index > other.index : one.seq > other.seq;

/** One line of the transcript of `sessionId`; `text` is its JSON without the line feed. */
export interface TranscriptLine extends EventPosition {
  readonly sessionId: string;
  /** The generation that a header starts; absent for a message. */
  readonly generation?: number;
  readonly text: string;
}

/** The beginning of every header of the key: the first bytes of a file tell whose transcript it is. */
export const headerStart = (key: SessionKey): string => `{"type":"session","key":${JSON.stringify(key)},`;

/** JSON that is safe to show in a terminal. */
const json = (value: object): string => escapeControls(JSON.stringify(value));

/** The lines that a commit adds to the transcripts of its key. A reset ends one transcript and starts the next. */
export const linesOf = (commit: RecordedCommit): TranscriptLine[] => {
  const { key, seq, at: createdAt, events } = commit;
  const messages = new Map(transcriptMessages(commit).map((message) => [message.id, message]));
  const sessionIds = sessionIdsOf(commit);
  return events.flatMap((event, index): TranscriptLine[] => {
    const id = `${seq}.${index}`;
    const sessionId = sessionIds[index] ?? commit.sessionId;
    if (event.type === 'session_opened' || event.type === 'session_reset') {
      const { generation } = event;
      const from = event.type === 'session_reset' ? event.forkedFrom : undefined;
      const forkedFrom = from && { sessionId: from.sessionId, seq: from.seq };
      const header = { type: 'session', key, v: 1, id, sessionId, generation, createdAt, ...(from && { forkedFrom }) };
      return [{ seq, index, sessionId, generation, text: json(header) }];
    }
    // What was not finished is not kept: without this line a question would stand there as if nobody had seen it.
    if (event.type === 'turn_aborted') {
      const stopped = { type: 'stopped', id, timestamp: createdAt, runId: event.turn.id, reason: event.reason };
      return [{ seq, index, sessionId, text: json(stopped) }];
    }
    const message = messages.get(id);
    return message === undefined ? [] : [{ seq, index, sessionId, text: json({ type: 'message', ...message }) }];
  });
};

/** The position of a line written earlier; `null` if the line is not ours. */
export const placeOf = (text: string): EventPosition | null => {
  try {
    const [, seq, index] = /^(\d+)\.(\d+)$/.exec((JSON.parse(text) as { id: string }).id) ?? [];
    return seq === undefined ? null : { seq: Number(seq), index: Number(index) };
  } catch {
    return null;
  }
};
