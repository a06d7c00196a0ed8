import { limits } from '../../kit/limits.ts';
import type { EventOf, SessionEvent } from '../session/events.ts';
import { isTakenBack } from './event-summary.ts';
import type { IndexRow } from './index-row.ts';

/** What stands in a row for the last message while others wait: one that is taken back leaves the message before it. */

/** What a row quotes: a message, or an answer. */
interface Quoted {
  readonly preview: string;
  /** The event of it: `<seq>.<index>`. */
  readonly id?: string | undefined;
}
/** A message that waits for a turn, and what was quoted before it. */
export interface WaitingMessage {
  readonly turnId: string;
  readonly id: string;
  readonly before: Quoted;
}
type Part = Partial<Pick<IndexRow, 'waitingMessages' | 'lastMessagePreview' | 'lastMessageId'>>;

const listed = (waiting: readonly WaitingMessage[]): Part => ({ waitingMessages: waiting.length === 0 ? undefined : waiting });

/** With a message whose turn is queued in its commit. */
export const withWaiting = (
  { waitingMessages = [], lastMessagePreview: preview, lastMessageId }: IndexRow,
  { turnId }: EventOf<'user_message'>,
  id: string,
  events: readonly SessionEvent[],
): Part =>
  turnId !== undefined && events.some((event) => event.type === 'turn_queued' && event.turn.id === turnId)
    ? listed([...waitingMessages, { turnId, id, before: { preview, id: lastMessageId } }].slice(-limits.queuedTurns))
    : {};

/** Without those of these turns: they wait no more. */
export const withoutWaiting = ({ waitingMessages }: IndexRow, turnIds: readonly string[]): Part =>
  waitingMessages === undefined ? {} : listed(waitingMessages.filter(({ turnId }) => !turnIds.includes(turnId)));

/** After a queue was cleared. Of a message that was taken back nothing stands. */
export const afterClearing = (row: IndexRow, event: EventOf<'queue_cleared'>): Part => {
  const gone = isTakenBack(event) ? row.waitingMessages?.find(({ turnId }) => event.turnIds.includes(turnId)) : undefined;
  const left = withoutWaiting(row, event.turnIds);
  if (gone === undefined) return left;
  const { id, before } = gone;
  return {
    ...listed((left.waitingMessages ?? []).map((each) => (each.before.id === id ? { ...each, before } : each))),
    ...(row.lastMessageId === id && { lastMessagePreview: before.preview, lastMessageId: before.id }),
  };
};

/** After an edit or a withdrawal of message `of`: what stands of it is what is quoted again. */
export const revisedBefore = ({ waitingMessages }: IndexRow, of: string, preview: string): Part =>
  waitingMessages === undefined
    ? {}
    : listed(waitingMessages.map((each) => (each.before.id === of ? { ...each, before: { ...each.before, preview } } : each)));
