import { limits } from '../../kit/limits.ts';
import type { CommandEnvelope } from '../../wire/envelope.ts';
import { type CommandOf, messageOf } from '../commands.ts';
import type { QueuedTurn, SessionEvent } from '../events.ts';
import { accept, type Decision, type Given, type SessionView } from './decision.ts';
import { isNew, learning, readying, renewal, resolving } from './generation.ts';

/** Opening and messages: A5/64–70, A13/138. */

type Message = CommandOf<'append_message'>['message'];

/** Who opens a session wants to see what is in it: only the next message ends one that is stale (A4/43, 58). */
export const openSession = ({ at, data: { by, expiry: _, ...occasion } }: Given<'open_session'>, view: SessionView): Decision =>
  accept(...readying(view, occasion, at), ...resolving(by));

/** No message has come, so a session that rests goes on resting (A5/63). */
export const recordOrigin = ({ at, data }: Given<'record_origin'>, view: SessionView): Decision => {
  const { expiry: _, deliverTo, ...occasion } = data;
  const known = isNew(view) ? readying(view, occasion, at) : learning(view, data.origin);
  return accept(...known, ...(deliverTo ? [{ type: 'route_changed', v: 1, deliverTo } as const] : []));
};

export const appendMessage = ({ at, data }: Given<'append_message'>, view: SessionView): Decision =>
  accept(...readying(view, data, at), { type: 'user_message', v: 1, message: data.message });

const turnOf = (id: string, { messageId, deliverTo }: Message): QueuedTurn => ({
  id,
  messageId,
  ...(deliverTo && { deliverTo }),
});

/** The message is stored and its turn begins. */
export const asking = (turnId: string, message: Message): SessionEvent[] => [
  { type: 'user_message', v: 1, message, turnId },
  { type: 'turn_started', v: 1, turn: turnOf(turnId, message), attempt: 1 },
];

/** Stores the message; starts its turn, or queues it behind the running one, or refuses it when the queue is full. The refusal is a
 * fact too: the sender was told "accepted", so what became of it must be in the history (I1). */
export const postMessage = ({ id: turnId, at, data }: Given<'post_message'>, view: SessionView): Decision => {
  const { message } = data;
  switch (view.status) {
    case 'idle':
    case 'inactive':
      return accept(...readying(view, data, at), ...asking(turnId, message));
    case 'running':
    case 'awaiting_approval': {
      const position = view.context.queue.length + 1;
      if (position > limits.queuedTurns) {
        return accept({ type: 'message_refused', v: 1, messageId: message.messageId, turnId, code: 'queue_full' });
      }
      const turn = { ...turnOf(turnId, message), ...renewal(view, data, at) };
      return accept(
        ...readying(view, data, at),
        { type: 'user_message', v: 1, message, turnId },
        { type: 'turn_queued', v: 1, turn, position },
      );
    }
  }
};

/** True of what was planned in a session that has been deleted since, whether it was used again or not (C9). */
export const isCancelled = ({ ifGeneration }: CommandEnvelope, { context }: SessionView): boolean =>
  ifGeneration !== undefined && ifGeneration <= context.deletedGeneration;

/** Whoever planned it was told "scheduled", so this too must be in the history (I1). Every plan is a text that somebody sent. */
export const refuseCancelled = ({ id, data }: CommandEnvelope): Decision =>
  accept({ type: 'message_refused', v: 1, messageId: messageOf(data)?.messageId ?? id, turnId: id, code: 'session_deleted' });
