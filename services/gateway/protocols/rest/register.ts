import type { FastifyInstance } from 'fastify';
import { filesBody } from '../../attachments/files-body.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import type { Operation } from '../../operation/operation.ts';

/** Registers the route of each operation that has one. */
export const registerOperations = (app: FastifyInstance, context: GatewayContext, operations: readonly Operation[]): void => {
  for (const { http, changes } of operations) {
    if (http === undefined) continue;
    const { method, path: url, isOpen, takesTicket, takesFiles, hasNoHead, errors } = http;
    app.route({
      ...{ method, url },
      ...(hasNoHead && { exposeHeadRoute: false }),
      ...(errors && { errorHandler: errors.handler(context.log) }),
      config: { changes, ...(isOpen && { isOpen }), ...(takesTicket && { takesTicket }) },
      ...(takesFiles && filesBody(context)),
      handler: (request, reply) => http.handle(context, request, reply),
    });
  }
};
