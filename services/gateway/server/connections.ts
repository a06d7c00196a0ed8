import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { limits } from '../../../shared/kit/limits.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { type ProblemCode, problemOf } from '../http/problem.ts';

/** Connections as such: how many are open, how many requests each pipelines, and what to do with bytes that are not HTTP. */

/** How long the sender of a malformed request, or of a body that was refused before all of it came, has to read the answer and hang up. */
const hangUpMs = 2_000;
/** Minimum time between two warnings about dropped connections, ms. */
const dropWarningMs = 10_000;

/** Drops new connections above the limit, so that the open ones are served. */
export const boundConnections = ({ server }: FastifyInstance, { config, log, ports: { clock } }: GatewayContext): void => {
  const { maxConnections } = config.gateway;
  server.maxConnections = maxConnections;
  let [dropped, warnAt] = [0, 0];
  server.on('drop', () => {
    dropped += 1;
    if (clock.monotonic() < warnAt) return;
    log.warn({ dropped, maxConnections }, 'too many connections are open here: those that come are cut off');
    [dropped, warnAt] = [0, clock.monotonic() + dropWarningMs];
  });
};

type BrokenRequest = Error & { code?: string };

/** The answer to bytes that are not an HTTP request, or to a request that never ends. */
const brokenAnswer = ({ code: cause }: BrokenRequest): string => {
  const code: ProblemCode =
    cause === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : cause === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid';
  const problem = problemOf(code, 'this is not an HTTP request that can be answered', uuidv7());
  const body = JSON.stringify(problem);
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`;
};

/** The unanswered requests of each connection. */
export class Pipelines {
  readonly #unanswered = new WeakMap<Socket, Set<FastifyReply['raw']>>();
  readonly #broken = new WeakSet<Socket>();

  /**
   * Whether the connection of a request may go on. One network packet can hold a thousand small requests, which would all be served before
   * any other client; no honest client pipelines that many.
   */
  admits({ raw }: FastifyRequest, { raw: answer }: FastifyReply): boolean {
    const { socket } = raw;
    const unanswered = this.#unanswered.get(socket) ?? new Set();
    this.#unanswered.set(socket, unanswered.add(answer));
    answer.once('close', () => {
      unanswered.delete(answer);
      // The rest of its body is read and thrown away.
      if (!raw.complete) setTimeout(() => raw.complete || socket.destroy(), hangUpMs).unref();
    });
    if (unanswered.size > limits.pipelinedRequests) socket.destroy();
    return !socket.destroyed;
  }

  /** Refuses bytes that are not a request, after answering the requests before them (RFC 9112, 9.3.2). */
  refuse(error: BrokenRequest, socket: Socket): void {
    if (error.code === 'ECONNRESET') return void socket.destroy();
    if (this.#broken.has(socket)) return;
    this.#broken.add(socket);
    const end = (): void => {
      if (!socket.writable) return void socket.destroy();
      socket.end(brokenAnswer(error));
      // A client could keep its half open, and so the connection, forever.
      socket.setTimeout(hangUpMs, () => socket.destroy());
    };
    const before = [...(this.#unanswered.get(socket) ?? [])].findLast(({ req }) => req.complete);
    if (before === undefined) end();
    else before.once('close', end);
  }
}
