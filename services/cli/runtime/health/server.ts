import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { errorMessage, NatterError } from '../../../../shared/kit/errors.ts';
import { type HealthProblem, readinessOf } from '../../../../shared/kit/health-problem.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import type { Service } from '../../../../shared/runtime/service.ts';
import { metricsOf, pageOf, pageType } from '../../../../shared/runtime/telemetry/metrics.ts';
import { isOwnName, notOwnName } from '../../../gateway/main.ts';

export interface HealthServerOptions {
  /** Its host, and the names that probes may use. */
  readonly gateway: Config['gateway'];
  readonly port: number;
  /** The bearer token of the scraper, the same as at the gateway. */
  readonly token: string;
  readonly version: string;
  /** Empty until they have started. */
  services(): readonly Service[];
  /** Why the process is not ready. */
  problems(): readonly HealthProblem[];
}

/** Open connections at most; a scraper and a prober use one each. */
const connectionsMax = 16;
const requestTimeoutMs = 10_000;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const mayRead = ({ headers }: IncomingMessage, token: string): boolean =>
  timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`));

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly type?: string;
}
const json = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body), type: 'application/json' });

const answerTo = async (request: IncomingMessage, options: HealthServerOptions): Promise<Answer> => {
  if (request.method !== 'GET') return { status: 404 };
  const { host } = request.headers;
  if (request.url !== '/metrics' && host !== undefined && !isOwnName(host, options.gateway))
    return { status: 400, body: notOwnName };
  if (request.url === '/livez') return json(200, { status: 'alive', version: options.version });
  if (request.url === '/readyz') {
    const readiness = readinessOf(options.problems());
    return json(readiness.status === 'ready' ? 200 : 503, readiness);
  }
  if (request.url !== '/metrics') return { status: 404 };
  if (!mayRead(request, options.token)) return { status: 401 };
  return { status: 200, body: await pageOf(await metricsOf(options.services())), type: pageType };
};

/**
 * Serves `/livez`, `/readyz` and, with the token, `/metrics` of a service that runs alone (`natter service … --metrics-port`), from before it
 * starts until it has stopped. Resolves with a function that stops it. Throws `NatterError('unavailable')` if the port is in use.
 */
export const serveHealth = async (options: HealthServerOptions): Promise<() => Promise<void>> => {
  const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }, (request, response) => {
    const failed = (): Answer => ({ status: 500 });
    void answerTo(request, options)
      .catch(failed)
      .then(({ status, body = '', type = 'text/plain' }) =>
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body),
      );
  });
  server.maxConnections = connectionsMax;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const fix = 'use another --metrics-port';
      reject(new NatterError('unavailable', `the health page cannot be served: ${errorMessage(cause)}; ${fix}`, { cause }));
    });
    server.listen(options.port, options.gateway.host, resolve);
  });
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
};
