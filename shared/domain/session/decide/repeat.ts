import { formerIdOf } from '../../keys/routed-id.ts';
import { messageOf } from '../commands.ts';
import type { CommandEnvelope } from '../envelope.ts';
import type { Position, SessionState } from '../fold/evolve.ts';
import { askedBefore } from '../repeats/asked-calls.ts';
import { hasForgottenNone, isRemembered } from '../repeats/id-memory.ts';
import { standingOf } from '../repeats/order-windows.ts';

/** A place in the command stream; `null` for a command that is not from there. */
export type Place = { readonly seq: number; readonly incarnation: number } | null;

/**
 * How a repeat was recognised. `place`: a later command of the stream has taken effect. `late`: its order number is below all that the session
 * knows of its source, and the id memory is full, so that it may be a new message that came too late. `firstId`: the command that the repeat
 * stands for, where it is another one.
 */
export interface Repeat {
  readonly by: 'place' | 'id' | 'order' | 'late' | 'call';
  readonly firstId?: string;
}

/** True if everything up to this place in the command stream is handled (I2). */
const isBehind = (delivery: Place, { position: { command } }: SessionState): boolean =>
  delivery !== null && delivery.incarnation === command.incarnation && delivery.seq <= command.seq;

/** True if the session has seen the id (D9). */
const knows = ({ recentIds, olderIds }: Position, id: string): boolean => recentIds.includes(id) || isRemembered(olderIds, id);

/** How this command, or the message in it, has taken effect before (I2, D9), or its turn runs or waits already (I5); `null` if it is new. */
export const repeatOf = (envelope: CommandEnvelope, delivery: Place, state: SessionState): Repeat | null => {
  if (isBehind(delivery, state)) return { by: 'place' };
  const { position } = state;
  if (isKnownById(envelope, state)) return { by: 'id' };
  const { order, call, at } = envelope;
  const firstId = call === undefined ? null : askedBefore(position.calls, call, at);
  if (firstId !== null) return { by: 'call', firstId };
  const standing = order === undefined ? 'new' : standingOf(position.orders, order);
  if (standing === 'known') return { by: 'order' };
  // While no id was ever forgotten, an unknown one is new, however late it comes.
  return standing === 'below' && !hasForgottenNone(position.olderIds) ? { by: 'late' } : null;
};

export const isRepeat = (envelope: CommandEnvelope, delivery: Place, state: SessionState): boolean =>
  repeatOf(envelope, delivery, state) !== null;

const isKnownById = ({ id, causationId, data }: CommandEnvelope, { machine: { context }, position }: SessionState): boolean => {
  const formerId = formerIdOf(id);
  if (knows(position, id) || (formerId !== null && knows(position, formerId))) return true;
  const message = messageOf(data);
  // A routed command's id includes the channel. The platform's message id does not: two channels may both have a message 17.
  const isRouted = message !== undefined && causationId === message.messageId;
  if (message !== undefined && !isRouted && message.messageId !== id && knows(position, message.messageId)) return true;
  const asksForTurn = data.type === 'compact' || (message !== undefined && data.type !== 'append_message');
  return (
    asksForTurn &&
    (context.turn?.id === id || context.turn?.merged?.includes(id) === true || context.queue.some((turn) => turn.id === id))
  );
};
