import { SpanKind } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginSpan, isTracing, type OpenSpan, type SpanDescription, type SpanEnd } from '../../../shared/kit/trace.ts';

/** Continues the caller's trace, if the request names one. Neither path nor query is recorded: both may hold a key or a secret. */
const requestSpan = ({
  method,
  headers: { traceparent },
  routeOptions: { url: route },
  id,
}: FastifyRequest): SpanDescription<unknown> => ({
  name: route === undefined ? method : `${method} ${route}`,
  kind: SpanKind.SERVER,
  parent: typeof traceparent === 'string' ? traceparent : null,
  attributes: { 'http.request.method': method, ...(route !== undefined && { 'http.route': route }), 'natter.request.id': id },
});

/** A span for each request, from before it is let in until it is answered; what its handler does is within it. */
export const traceRequests = (app: FastifyInstance): void => {
  if (!isTracing()) return;
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  const finish = (request: FastifyRequest, ending: SpanEnd): void => {
    spans.get(request)?.end(ending);
    spans.delete(request);
  };
  app.addHook('onRequest', async (request) => {
    const span = beginSpan(() => requestSpan(request));
    if (span) spans.set(request, span);
  });
  // The last hook before the handler, and with a callback: what it calls, and only that, is in the span's context.
  app.addHook('preHandler', (request, _, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
  app.addHook('onRequestAbort', async (request) => finish(request, { failure: 'aborted' }));
  app.addHook('onResponse', async (request, { statusCode }) =>
    finish(request, {
      attributes: { 'http.response.status_code': statusCode },
      failure: statusCode >= 500 ? String(statusCode) : undefined,
    }),
  );
};
