import type { FastifyInstance } from 'fastify';
import type { GatewayContext } from '../../context/gateway-context.ts';
import type { Operation } from '../../operation/operation.ts';

/** Registers the route of each operation that has one. */
export const registerOperations = (app: FastifyInstance, context: GatewayContext, operations: readonly Operation[]): void => {
  for (const { http, changes } of operations) {
    if (http === undefined) continue;
    const { method, path: url, isOpen, takesTicket, hasNoHead, errors } = http;
    app.route({
      ...{ method, url },
      ...(hasNoHead && { exposeHeadRoute: false }),
      ...(errors && { errorHandler: errors.handler(context.log) }),
      config: { changes, ...(isOpen && { isOpen }), ...(takesTicket && { takesTicket }) },
      handler: (request, reply) => http.handle(context, request, reply),
    });
  }
};
