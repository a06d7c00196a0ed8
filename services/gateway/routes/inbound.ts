import type { FastifyInstance } from 'fastify';
import { deliveryTarget, sender, sessionSource } from '../../../shared/session/types.ts';
import { inboundEnvelope } from '../../../shared/wire/envelope.ts';
import type { GatewayContext } from '../context.ts';
import { bodyOf, noQuery, queryOf } from '../input.ts';

/** The envelope as connectors may send it: no unknown keys, and no role, which the router alone resolves (A5/66). */
const strictEnvelope = inboundEnvelope
  .extend({
    conversation: inboundEnvelope.shape.conversation.strict(),
    sender: sender.omit({ role: true }).strict(),
    deliverTo: deliveryTarget.strict().optional(),
    source: sessionSource.strict().optional(),
  })
  .strict();

/** `POST /v1/inbound`: what a platform said, accepted once it is stored. */
export const inboundRoutes = (app: FastifyInstance, { ports }: GatewayContext): void => {
  app.post('/v1/inbound', async (request, reply) => {
    queryOf(noQuery, request);
    const envelope = bodyOf(strictEnvelope, request);
    const { duplicate } = await ports.inbound.publish({ ...envelope, at: envelope.at ?? ports.clock.now() });
    return reply.code(202).send({ id: envelope.id, status: 'accepted', duplicate });
  });
};
