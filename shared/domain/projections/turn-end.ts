import { counted } from '../../kit/text/counted.ts';
import type { EventOf, SessionEvent } from '../session/events.ts';

/** What a person gives as the reason: the chat command, or nothing. */
const byPerson: ReadonlySet<string> = new Set(['/stop', 'api', 'cancelled']);

/** How an answer was stopped: the log has its finished steps, and no part of the one under way. */
const stopped = ({ reason }: EventOf<'turn_aborted'>, isMine: boolean): string => {
  const who = isMine && byPerson.has(reason) ? 'stopped by you' : reason.startsWith('stopped') ? reason : `stopped: ${reason}`;
  return `${who}; only finished steps are kept`;
};

/** What never had its turn. */
const cleared = ({ turnIds, reason }: EventOf<'queue_cleared'>, isMine: boolean): string => {
  const by = isMine && byPerson.has(reason) ? 'by you' : `(${reason})`;
  return `${counted(turnIds.length, 'waiting message')} removed from the queue ${by}, without an answer`;
};

/** The turns that an event ends without an answer, and how. `isMine`: the reader did it. */
export const endedBy = (
  event: SessionEvent,
  isMine: boolean,
): { readonly turnIds: readonly string[]; readonly how: string } | null => {
  switch (event.type) {
    case 'turn_failed':
      return { turnIds: [event.turn.id], how: `failed: ${event.code}: ${event.message}` };
    case 'turn_aborted':
      return { turnIds: [event.turn.id], how: stopped(event, isMine) };
    case 'turn_completed':
      return { turnIds: [event.turn.id], how: '(no reply)' };
    case 'queue_cleared':
      return { turnIds: event.turnIds, how: cleared(event, isMine) };
    case 'session_deleted':
      return { turnIds: event.turnIds, how: `the session was deleted: ${event.reason}` };
    case 'message_refused':
      return { turnIds: event.turnId === undefined ? [] : [event.turnId], how: `refused: ${event.code}` };
    default:
      return null;
  }
};
