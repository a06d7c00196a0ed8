import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { isWithin, type Principal } from '../../../shared/domain/access/access.ts';
import { placing } from '../../../shared/domain/routing/envelope-key.ts';
import { arrivingEnvelope, envelopeProblem, type InboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { deliveryTarget, sender, sessionSource } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { checkSaid, forbidden } from '../access/speaker.ts';
import type { Caller } from '../commands/envelope.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { Call } from '../operation/operation.ts';

/** The envelope as connectors may send it: without unknown keys, and without role and principal, which only the router resolves (A5/66). */
export const strictEnvelope = arrivingEnvelope
  .extend({
    conversation: arrivingEnvelope.shape.conversation.strict(),
    sender: sender.pick({ id: true, name: true }).strict(),
    deliverTo: deliveryTarget.strict().optional(),
    source: sessionSource.strict().optional(),
  })
  .strict();

/** The session that the envelope is for, or why the router would refuse it. */
const placeOf = ({ config, access }: GatewayContext, envelope: InboundEnvelope) => placing(config, access.identities)(envelope);

/**
 * A channel's token may bring messages of its own channel only; if it names a person, only their messages to sessions where they may write,
 * because writing in a group makes them a participant (A5/67, A8/90). A session named by the envelope must belong to that channel too. Answers
 * to a person go to where that session is. Throws `NatterError('forbidden')` and `noSuchSession()`.
 */
const checkChannel = async (principal: Principal, envelope: InboundEnvelope, context: GatewayContext): Promise<void> => {
  if (principal.role === 'owner') return;
  if (principal.role !== 'channel')
    throw forbidden('channel', 'a participant posts to a session; use /v1/sessions/{key}/messages');
  const { channel, conversation, sender, deliverTo, sessionKey } = envelope;
  const { namespace, principal: person } = principal;
  const { access } = context;
  const { identities } = access;
  const only = `this token is for ${namespace} alone`;
  if (channel !== namespace) throw forbidden('channel', only);
  if (person !== undefined) checkFacts(envelope);
  if (person !== undefined && identities.principalOf(channel, sender.id) !== identities.resolve(person)) {
    throw forbidden('sender.id', `this token speaks for ${person} and nobody else`);
  }
  checkSaid(principal, { deliverTo });
  const place = placeOf(context, envelope);
  if (!('key' in place)) return;
  const isInside = isWithin(namespace, place.key);
  if (sessionKey !== undefined && !isInside) throw forbidden('sessionKey', only);
  // This token never sees sessions outside its channel, such as a shared main session.
  if (person !== undefined && isInside) await access.enter(principal, place.key);
  const where = conversation.kind === 'direct' ? sender.id : place.parsed.id;
  if (person !== undefined && conversation.id !== where) {
    throw forbidden('conversation.id', 'is where answers go; use the id of the person, or that of the group the session is of');
  }
};

/**
 * What only the channel knows: the order of its messages, and where they come from, which rules for tools and for sending may be about. In a
 * group, its names as well.
 */
const checkFacts = (envelope: InboundEnvelope): void => {
  const { conversation } = envelope;
  const names = conversation.kind === 'direct' ? [] : (['label', 'subject', 'channel', 'space'] as const);
  const fields = [
    ...(['order', 'provider', 'source', 'from', 'to'] as const).filter((field) => envelope[field] !== undefined),
    ...names.filter((name) => conversation[name] !== undefined).map((name) => `conversation.${name}`),
  ];
  const [field] = fields;
  if (field !== undefined) throw forbidden(field, 'only the channel says this, not a person; leave it out');
};

/** Only the channel may choose platform ids: an id chosen by a person could block the platform's own message of that id (I2). */
const storedId = ({ principal, actor }: Caller, { id }: InboundEnvelope): string => {
  if (principal.role !== 'channel' || principal.principal === undefined) return id;
  return `own-${createHash('sha256')
    .update(JSON.stringify([actor, id]))
    .digest('base64url')}`;
};

/** Accepts what a platform said once it is stored, under the id that is answered. */
export const receiveEnvelope = async ({ context, caller }: Call, envelope: z.infer<typeof strictEnvelope>) => {
  const { ports } = context;
  const problem = envelopeProblem(envelope);
  if (problem !== null) throw new NatterError('invalid', `${problem.field}: ${problem.message}`, { field: problem.field });
  await checkChannel(caller.principal, envelope, context);
  const place = placeOf(context, envelope);
  if ('key' in place) context.newSessions.enter(caller, place.key);
  // What the owner can mend waits for that as a dead letter.
  else if (!place.isMendable) throw new NatterError('invalid', place.problem, { field: place.problem.split(':', 1)[0] });
  const id = storedId(caller, envelope);
  const { duplicate } = await ports.inbound.publish({ ...envelope, id, at: envelope.at ?? ports.clock.now() });
  return { id, status: 'accepted', duplicate };
};
