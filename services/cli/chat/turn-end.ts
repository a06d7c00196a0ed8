import type { SessionEvent } from '../../../shared/domain/session/events.ts';

/** The turns that an event ends without an answer, and how. */
export const endedBy = (event: SessionEvent): { readonly turnIds: readonly string[]; readonly how: string } | null => {
  switch (event.type) {
    case 'turn_failed':
      return { turnIds: [event.turn.id], how: `failed: ${event.code}: ${event.message}` };
    case 'turn_aborted':
      return { turnIds: [event.turn.id], how: `stopped: ${event.reason}` };
    case 'turn_completed':
      return { turnIds: [event.turn.id], how: '(no reply)' };
    case 'queue_cleared':
      return { turnIds: event.turnIds, how: `removed from the queue: ${event.reason}` };
    case 'session_deleted':
      return { turnIds: event.turnIds, how: `the session was deleted: ${event.reason}` };
    case 'message_refused':
      return { turnIds: event.turnId === undefined ? [] : [event.turnId], how: `refused: ${event.code}` };
    default:
      return null;
  }
};
