import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isWithin, type Principal } from '../../../shared/domain/access/access.ts';
import { placing } from '../../../shared/domain/routing/envelope-key.ts';
import { arrivingEnvelope, type InboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { deliveryTarget, sender, sessionSource } from '../../../shared/domain/values/types.ts';
import type { GatewayContext } from '../context.ts';
import { bodyOf, noQuery, queryOf } from '../input.ts';
import { checkSaid, forbidden } from '../speaker.ts';

/** The envelope as connectors may send it: no unknown keys, and neither role nor principal, which the router alone resolves (A5/66). */
export const strictEnvelope = arrivingEnvelope
  .extend({
    conversation: arrivingEnvelope.shape.conversation.strict(),
    sender: sender.pick({ id: true, name: true }).strict(),
    deliverTo: deliveryTarget.strict().optional(),
    source: sessionSource.strict().optional(),
  })
  .strict();

/**
 * A channel's token tells what its own channel said, and if it names a person, what they said where they may write: whoever writes in a
 * group takes part in it from then on (A5/67, A8/90). A session that the envelope names itself must be of that channel too. Answers to a
 * person go to where that session is. Throws `NatterError('forbidden')` and `noSuchSession()`.
 */
const checkChannel = async (
  principal: Principal,
  envelope: InboundEnvelope,
  { config, access }: GatewayContext,
): Promise<void> => {
  if (principal.role === 'owner') return;
  if (principal.role !== 'channel')
    throw forbidden('channel', 'a participant posts to a session; use /v1/sessions/{key}/messages');
  const { channel, conversation, sender, deliverTo, sessionKey } = envelope;
  const { namespace, principal: person } = principal;
  const { identities } = access;
  const only = `this token is for ${namespace} alone`;
  if (channel !== namespace) throw forbidden('channel', only);
  if (person !== undefined && identities.principalOf(channel, sender.id) !== identities.resolve(person)) {
    throw forbidden('sender.id', `this token speaks for ${person} and nobody else`);
  }
  checkSaid(principal, { deliverTo });
  const place = placing(config, identities)(envelope);
  if (!('key' in place)) return;
  const isInside = isWithin(namespace, place.key);
  if (sessionKey !== undefined && !isInside) throw forbidden('sessionKey', only);
  // What is outside, such as a main session that all share, this token never gets to see.
  if (person !== undefined && isInside) await access.enter(principal, place.key);
  const where = conversation.kind === 'direct' ? sender.id : place.parsed.id;
  if (person !== undefined && conversation.id !== where) {
    throw forbidden('conversation.id', 'is where answers go; use the id of the person, or that of the group the session is of');
  }
};

/** A platform's id is its channel's to say: one that a person chose could keep the platform's own message of that id out (I2). */
const storedId = ({ principal, actor }: FastifyRequest, { id }: InboundEnvelope): string => {
  if (principal.role !== 'channel' || principal.principal === undefined) return id;
  return `own-${createHash('sha256')
    .update(JSON.stringify([actor, id]))
    .digest('base64url')}`;
};

/** `POST /v1/inbound`: what a platform said, accepted once it is stored under the id that is answered. */
export const inboundRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const { ports } = context;
  app.post('/v1/inbound', async (request, reply) => {
    queryOf(noQuery, request);
    const envelope = bodyOf(strictEnvelope, request);
    await checkChannel(request.principal, envelope, context);
    const id = storedId(request, envelope);
    const { duplicate } = await ports.inbound.publish({ ...envelope, id, at: envelope.at ?? ports.clock.now() });
    return reply.code(202).send({ id, status: 'accepted', duplicate });
  });
};
