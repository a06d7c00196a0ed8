import { limits } from '../../kit/limits.ts';
import type { QueuedTurn, SessionEvent } from '../events.ts';
import type { SessionSource } from '../types.ts';
import { accept, type Decision, type Given, type SessionView } from './decision.ts';

/** Opening and messages: A5/64–70. */

const defaultSource: SessionSource = { kind: 'api', interactive: false };

/** The events that make a session open; none if it is. */
const opening = (view: SessionView, sessionId: string, source: SessionSource | undefined): SessionEvent[] => {
  if (view.status !== 'inactive') return [];
  if (view.context.generation > 0) return [{ type: 'session_reopened', v: 1 }];
  return [{ type: 'session_opened', v: 1, sessionId, generation: 1, source: source ?? defaultSource }];
};

export const openSession = ({ data }: Given<'open_session'>, view: SessionView): Decision =>
  accept(...opening(view, data.sessionId, data.source));

export const appendMessage = ({ data }: Given<'append_message'>, view: SessionView): Decision =>
  accept(...opening(view, data.sessionId, data.source), { type: 'user_message', v: 1, message: data.message });

/** Stores the message; starts its turn, or queues it behind the running one, or refuses it when the queue is full. The refusal is a
 * fact too: the sender was told "accepted", so what became of it must be in the history (I1). */
export const postMessage = ({ id: turnId, data }: Given<'post_message'>, view: SessionView): Decision => {
  const { message } = data;
  const turn: QueuedTurn = {
    id: turnId,
    messageId: message.messageId,
    ...(message.deliverTo && { deliverTo: message.deliverTo }),
  };
  const said: SessionEvent = { type: 'user_message', v: 1, message, turnId };
  switch (view.status) {
    case 'idle':
    case 'inactive':
      return accept(...opening(view, data.sessionId, data.source), said, { type: 'turn_started', v: 1, turn, attempt: 1 });
    case 'running':
    case 'awaiting_approval': {
      const position = view.context.queue.length + 1;
      return position > limits.queuedTurns
        ? accept({ type: 'message_refused', v: 1, messageId: message.messageId, turnId, code: 'queue_full' })
        : accept(said, { type: 'turn_queued', v: 1, turn, position });
    }
  }
};
