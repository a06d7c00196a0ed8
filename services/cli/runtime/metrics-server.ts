import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { metricsOf, pageOf, pageType } from '../../../shared/runtime/telemetry/metrics.ts';

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  /** The bearer token of the scraper, the same as at the gateway. */
  readonly token: string;
  readonly services: readonly Service[];
}

/** Open connections at most; a scraper uses one. */
const connectionsMax = 16;
const requestTimeoutMs = 10_000;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const mayRead = ({ headers }: IncomingMessage, token: string): boolean =>
  timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`));

/**
 * Serves `GET /metrics` for a service that runs alone (`natter service … --metrics-port`). Resolves with a function that stops it. Throws
 * `NatterError('unavailable')` if the port is in use.
 */
export const serveMetrics = async ({ host, port, token, services }: MetricsServerOptions): Promise<() => Promise<void>> => {
  const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }, (request, response) => {
    const answer = (status: number, body = '', type = 'text/plain'): void =>
      void response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    if (request.url !== '/metrics' || request.method !== 'GET') return answer(404);
    if (!mayRead(request, token)) return answer(401);
    metricsOf(services)
      .then(pageOf)
      .then(
        (page) => answer(200, page, pageType),
        () => answer(500),
      );
  });
  server.maxConnections = connectionsMax;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const fix = 'use another --metrics-port';
      reject(new NatterError('unavailable', `the metrics cannot be served: ${errorMessage(cause)}; ${fix}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
};
