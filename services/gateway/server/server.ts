import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { changeOf, guardOf } from '../access/auth.ts';
import { noOAuthRoutes } from '../access/no-oauth.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { checkServed } from '../context/serving.ts';
import { readJson } from '../http/input.ts';
import { errorHandler, problemOf, sendProblem } from '../http/problem.ts';
import { pageRoutes } from '../page/routes.ts';
import { mcpRoutes } from '../protocols/mcp/routes.ts';
import { isOpenAiPath, unknownPath } from '../protocols/openai/format/unknown-path.ts';
import { registerOperations } from '../protocols/rest/register.ts';
import { webSocketRoutes } from '../protocols/ws/routes.ts';
import { boundConnections, Pipelines } from './connections.ts';
import { operations } from './operations.ts';
import { answersPreflight, checkHostName, checkOrigin } from './origin.ts';
import { traceRequests } from './tracing.ts';

const headerBytes = 16 * 1024;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 15_000;
/** How often slow requests are looked for. */
const slowCheckMs = 1_000;
/** Longest path parameter that the router accepts; longer than any session key, which has a check of its own. */
const parameterCharacters = 8_192;

/** On every answer but the page's own files: nothing here is a page, and nothing is for a browser to guess, frame, cache or pass on. */
const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Throws `NatterError('invalid')` for a request that does not name its host (RFC 9112, 3.2). */
const checkHost = ({ headers, raw }: FastifyRequest): void => {
  if (headers.host !== undefined || raw.httpVersion === '1.0') return;
  throw new NatterError('invalid', 'host: send this header', { field: 'host' });
};

/** The HTTP server: what applies to every route, in order. */
export const buildServer = (context: GatewayContext): FastifyInstance => {
  const { log, metrics, audit } = context;
  const { trustedProxies } = context.config.gateway;
  const onError = errorHandler(log);
  const pipelines = new Pipelines();
  const app = Fastify({
    logger: false,
    // Without a trusted proxy, `X-Forwarded-For` is ignored.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: () => uuidv7(),
    bodyLimit: limits.commandBytes,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    http: {
      ...{ maxHeaderSize: headerBytes, headersTimeout: headersTimeoutMs, connectionsCheckingInterval: slowCheckMs },
      // Answered by `checkHost`, with a problem.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: parameterCharacters },
    clientErrorHandler: (error, socket) => pipelines.refuse(error, socket),
    frameworkErrors: (error, request, reply) => onError(error, request, reply.headers({ ...securityHeaders })),
  });
  const guard = guardOf(context);
  boundConnections(app, context);
  // The only expectation supported is "100-continue", which Node handles itself (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', app.routing);

  traceRequests(app);
  app.addHook('onRequest', async (request, reply) => {
    if (!pipelines.admits(request, reply)) return reply.hijack();
    reply.headers({ ...securityHeaders, 'x-request-id': request.id });
    checkHost(request);
    if (request.routeOptions.config.isOpen) checkHostName(request, context.config.gateway);
    checkOrigin(request, reply, context.config.gateway);
    if (answersPreflight(request, reply)) return reply;
    await guard.pass(request, reply);
    if (request.url.startsWith('/v1/')) checkServed(context, changeOf(request));
  });
  app.addHook('onError', async (request, _, error) => audit.refused(request, error));
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    metrics.answered(route, request.method, reply.statusCode, reply.elapsedTime / 1_000);
    log.debug(
      { requestId: request.id, method: request.method, route, status: reply.statusCode, ms: reply.elapsedTime },
      'answered',
    );
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => readJson(body));
  app.setErrorHandler(onError);
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    const nothing = `there is nothing at ${request.method} ${path}`;
    if (isOpenAiPath(path)) return reply.code(404).send(unknownPath(nothing, request.id));
    return sendProblem(reply, problemOf('not_found', nothing, request.id));
  });

  registerOperations(app, context, operations);
  webSocketRoutes(app, context, guard);
  mcpRoutes(app, context);
  noOAuthRoutes(app);
  pageRoutes(app, context);
  return app;
};
