import type { FastifyInstance } from 'fastify';
import { isWithin, type Principal } from '../../../shared/policy/access.ts';
import { placing } from '../../../shared/routing/envelope-key.ts';
import { deliveryTarget, sender, sessionSource } from '../../../shared/session/types.ts';
import { arrivingEnvelope, type InboundEnvelope } from '../../../shared/wire/envelope.ts';
import type { GatewayContext } from '../context.ts';
import { bodyOf, noQuery, queryOf } from '../input.ts';
import { forbidden } from '../speaker.ts';

/** The envelope as connectors may send it: no unknown keys, and neither role nor principal, which the router alone resolves (A5/66). */
const strictEnvelope = arrivingEnvelope
  .extend({
    conversation: arrivingEnvelope.shape.conversation.strict(),
    sender: sender.pick({ id: true, name: true }).strict(),
    deliverTo: deliveryTarget.strict().optional(),
    source: sessionSource.strict().optional(),
  })
  .strict();

/**
 * A channel's token tells what its own channel said, and if it names a person, what they said where they may write: whoever writes in a
 * group takes part in it from then on (A5/67, A8/90). A session that the envelope names itself must be of that channel too. Throws
 * `NatterError('forbidden')` and `noSuchSession()`.
 */
const checkChannel = async (
  principal: Principal,
  envelope: InboundEnvelope,
  { config, access }: GatewayContext,
): Promise<void> => {
  if (principal.role === 'owner') return;
  if (principal.role !== 'channel')
    throw forbidden('channel', 'a participant posts to a session; use /v1/sessions/{key}/messages');
  const { channel, sender, deliverTo, sessionKey } = envelope;
  const { namespace, principal: person } = principal;
  const { identities } = access;
  const only = `this token is for ${namespace} alone`;
  if (channel !== namespace) throw forbidden('channel', only);
  if (person !== undefined && identities.principalOf(channel, sender.id) !== identities.resolve(person)) {
    throw forbidden('sender.id', `this token speaks for ${person} and nobody else`);
  }
  if (deliverTo !== undefined && deliverTo.channel !== channel) throw forbidden('deliverTo.channel', only);
  const place = placing(config, identities)(envelope);
  if (!('key' in place)) return;
  const isInside = isWithin(namespace, place.key);
  if (sessionKey !== undefined && !isInside) throw forbidden('sessionKey', only);
  // What is outside, such as a main session that all share, this token never gets to see.
  if (person !== undefined && isInside) await access.enter(principal, place.key);
};

/** `POST /v1/inbound`: what a platform said, accepted once it is stored. */
export const inboundRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const { ports } = context;
  app.post('/v1/inbound', async (request, reply) => {
    queryOf(noQuery, request);
    const envelope = bodyOf(strictEnvelope, request);
    await checkChannel(request.principal, envelope, context);
    const { duplicate } = await ports.inbound.publish({ ...envelope, at: envelope.at ?? ports.clock.now() });
    return reply.code(202).send({ id: envelope.id, status: 'accepted', duplicate });
  });
};
