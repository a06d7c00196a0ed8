import { createMcpHandler, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { filesBody } from '../../attachments/files-body.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { noQuery, queryOf } from '../../http/input.ts';
import { mcpServerFor } from './server.ts';

/** Refuses web pages: a page could reach a gateway that only its user can reach (DNS rebinding). */
const refuseBrowsers = async ({ headers }: FastifyRequest): Promise<void> => {
  if (headers.origin === undefined) return;
  throw new NatterError('forbidden', 'origin: pages in browsers may not use this; call from a program', { field: 'origin' });
};

/** Unreadable requests get JSON-RPC errors; everything else is an HTTP problem as on other routes. */
const protocolError = (code: ProtocolErrorCode, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } });
const answerUnreadable = (error: unknown, _: FastifyRequest, reply: FastifyReply): void => {
  if (!(error instanceof NatterError && error.code === 'invalid')) throw error;
  const code = error.field === 'body' ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
  void reply.code(400).send(protocolError(code, error.message));
};

/**
 * `/mcp`: the Model Context Protocol over streamable HTTP, 2026-07-28 and before, without sessions: each request carries its caller's token and
 * stands alone. `GET` and `DELETE`, which belong to sessions, are answered 405.
 */
export const mcpRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  app.route({
    method: ['POST', 'GET', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    // What a tool changes is its own to say.
    config: { changes: 'nothing' },
    ...filesBody(context),
    onRequest: refuseBrowsers,
    errorHandler: answerUnreadable,
    handler: async (request, reply) => {
      queryOf(noQuery, request);
      const { body: parsedBody, method } = request;
      // Batches left the protocol in 2025: each message is a request of its own, and counts in the quota of waiting calls.
      if (Array.isArray(parsedBody)) {
        const error = protocolError(ProtocolErrorCode.InvalidRequest, 'send one message per request');
        return reply.code(400).send(error);
      }
      const { fetch } = createMcpHandler(() => mcpServerFor(context, reply), {
        // Our tools do not change, so there is nothing to listen for.
        maxSubscriptions: 0,
        onerror: (err) => context.log.debug({ err, requestId: request.id }, 'MCP request refused'),
      });
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      );
      const asked = new Request('http://gateway/mcp', { method, headers });
      return reply.send(await fetch(asked, { parsedBody }));
    },
  });
};
