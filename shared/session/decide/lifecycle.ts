import type { SessionEvent } from '../events.ts';
import { accept, type Decision, type Given, nothing, refOf, refuse, type SessionView } from './decision.ts';

/** Stop, reset and rest: A4/53, A5/63, A11/125. */

/** Ends what runs and clears what waits, as facts. */
const ending = (view: SessionView, reason: string): SessionEvent[] => {
  if (view.turn === null) return [];
  const turnIds = view.context.queue.map(({ id }) => id);
  const cleared: SessionEvent[] = turnIds.length === 0 ? [] : [{ type: 'queue_cleared', v: 1, turnIds, reason }];
  return [...cleared, { type: 'turn_aborted', v: 1, turn: refOf(view.turn), reason }];
};

export const stop = ({ data }: Given<'stop'>, view: SessionView): Decision => accept(...ending(view, data.reason));

/** One commit ends the old generation and begins the new one (C10). */
export const reset = ({ data }: Given<'reset'>, view: SessionView): Decision => {
  const { sessionId: previousSessionId, generation } = view.context;
  if (generation === 0) return refuse('session_unknown', 'there is nothing to reset yet; send a message first');
  return accept(...ending(view, data.reason), {
    type: 'session_reset',
    v: 1,
    previousSessionId,
    sessionId: data.sessionId,
    generation: generation + 1,
    reason: data.reason,
  });
};

export const deactivate = ({ data }: Given<'deactivate_session'>, view: SessionView): Decision => {
  switch (view.status) {
    case 'inactive':
      return nothing;
    case 'idle':
      return accept({ type: 'session_deactivated', v: 1, reason: data.reason });
    case 'running':
    case 'awaiting_approval':
      return refuse('session_busy', 'a turn is running; stop it first or wait for it to end');
  }
};
