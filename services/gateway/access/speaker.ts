import { channelOfNamespace, type Principal, personOf } from '../../../shared/domain/access/access.ts';
import type { Identities } from '../../../shared/domain/keys/identity.ts';
import { isOwnersPage, ownerName } from '../../../shared/domain/values/person-words.ts';
import type { DeliveryTarget, Sender } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Caller } from '../commands/envelope.ts';

/** In whose name a call speaks. Only the owner may say so; for others the token decides (A5/66). */

export const forbidden = (field: string, message: string): NatterError =>
  new NatterError('forbidden', `${field}: ${message}`, { field });

/**
 * The sender of a message. Without `given` it is the person of the token, else the program `api`, which is called the owner if the `actor` is
 * their page. Throws `NatterError('forbidden')`.
 */
export const speakerOf = (
  principal: Principal,
  given: Pick<Sender, 'id' | 'name'> | undefined,
  identities: Identities,
  actor?: string,
): Sender => {
  const person = personOf(principal);
  if (person !== undefined) {
    if (given !== undefined) throw forbidden('sender', `this token speaks for ${person} and nobody else; leave it out`);
    return { id: person, role: 'participant', principal: identities.resolve(person) };
  }
  // A channel brings what strangers say, so what it says by itself has no more rights than they (D7).
  if (given === undefined)
    return {
      ...{ id: 'api', role: 'program' },
      ...(actor !== undefined && isOwnersPage(actor) && { name: ownerName }),
      ...(principal.role === 'channel' && { onBehalfOf: 'participant' }),
    };
  if (principal.role !== 'channel') return { ...given, role: 'participant' };
  return { ...given, role: 'participant', principal: identities.principalOf(channelOfNamespace(principal.namespace), given.id) };
};

/**
 * Who decides something by a call: the person of the token, else its holder. Tokens of the owner decide as the owner, and so do those of
 * approvers, whom the owner has entrusted with it.
 */
export const holderOf = ({ principal, actor }: Caller, identities: Identities): Sender => {
  const mayDecide = principal.role === 'owner' || principal.role === 'approver';
  if (personOf(principal) === undefined) return { id: actor, role: mayDecide ? 'owner' : 'program' };
  return { ...speakerOf(principal, undefined, identities), ...(mayDecide && { role: 'owner' as const }) };
};

/**
 * Checks the target and the id of a message: a forged platform id could block the platform's own message of that id. A person may set neither,
 * a channel only a target in its own channel. Throws `NatterError('forbidden')`.
 */
export const checkSaid = (principal: Principal, said: { messageId?: unknown; deliverTo?: DeliveryTarget | undefined }): void => {
  if (principal.role === 'owner') return;
  const isPerson = personOf(principal) !== undefined;
  if (isPerson && said.messageId !== undefined) {
    throw forbidden('messageId', 'is not a participant\'s to choose; send the header "idempotency-key" instead');
  }
  if (said.deliverTo === undefined) return;
  if (isPerson || principal.role !== 'channel') throw forbidden('deliverTo', "is not a participant's to choose; leave it out");
  const channel = channelOfNamespace(principal.namespace);
  if (said.deliverTo.channel !== channel) throw forbidden('deliverTo.channel', `this token is for ${channel} alone`);
};
