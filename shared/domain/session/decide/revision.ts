import type { Sender } from '../../values/types.ts';
import type { Revisable } from '../arrivals.ts';
import { accept, type Decision, type Given, nothing, type SessionView } from './decision.ts';

/**
 * Edits and deletions on the platform. They start no turn. One of a message that the session does not know, or no longer, changes nothing,
 * and so does one by anybody but its sender and the owner.
 */

export const editMessage = ({ data: { target, text, by } }: Given<'edit_message'>, view: SessionView): Decision => {
  const known = revisable(view, target, by);
  return known === undefined
    ? nothing
    : accept({ type: 'message_edited', v: 1, of: known.of, messageId: known.messageId, text, by });
};

export const withdrawMessage = ({ data: { target, by } }: Given<'withdraw_message'>, view: SessionView): Decision => {
  const known = revisable(view, target, by);
  return known === undefined
    ? nothing
    : accept({ type: 'message_withdrawn', v: 1, of: known.of, messageId: known.messageId, by });
};

const revisable = ({ position }: SessionView, target: string, { role, principal, id }: Sender): Revisable | undefined =>
  position.revisable.find((message) => message.id === target && (role === 'owner' || message.by === (principal ?? id)));
