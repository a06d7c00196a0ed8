import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { limits } from '../../shared/kit/limits.ts';
import type { GatewayContext } from './context.ts';
import { type ProblemCode, problemOf } from './problem.ts';

/** Connections, beside what is asked by them: how many there are, how much at once, and what is no request. */

/** How long somebody whose request was broken may take to read why and to hang up. */
const hangUpMs = 2_000;
/** Least milliseconds between two warnings that connections are cut off. */
const dropWarningMs = 10_000;

/** Cuts off who comes when all places are taken, so that those who are in are served. */
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

/** What is no HTTP request at all, or one that never ends, as a client is told of it. */
const brokenAnswer = ({ code: cause }: BrokenRequest): string => {
  const code: ProblemCode =
    cause === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : cause === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid';
  const problem = problemOf(code, 'this is not an HTTP request that can be answered', uuidv7());
  const body = JSON.stringify(problem);
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`;
};

/** What each connection has asked and is not answered yet. */
export class Pipelines {
  readonly #unanswered = new WeakMap<Socket, Set<FastifyReply['raw']>>();
  readonly #broken = new WeakSet<Socket>();

  /**
   * Whether the connection of a request may go on. One portion of the network holds a thousand small requests, which would all be dealt with
   * before anybody else is heard; no client sends so many without an answer.
   */
  admits({ raw: { socket } }: FastifyRequest, { raw: answer }: FastifyReply): boolean {
    const unanswered = this.#unanswered.get(socket) ?? new Set();
    this.#unanswered.set(socket, unanswered.add(answer));
    answer.once('close', () => unanswered.delete(answer));
    if (unanswered.size > limits.pipelinedRequests) socket.destroy();
    return !socket.destroyed;
  }

  /** Refuses what is no request, behind the answers to those that came before it (RFC 9112, 9.3.2): it is not them that are refused. */
  refuse(error: BrokenRequest, socket: Socket): void {
    if (error.code === 'ECONNRESET') return void socket.destroy();
    if (this.#broken.has(socket)) return;
    this.#broken.add(socket);
    const end = (): void => {
      if (!socket.writable) return void socket.destroy();
      socket.end(brokenAnswer(error));
      // A client may keep its half open for ever, and the connection with it.
      socket.setTimeout(hangUpMs, () => socket.destroy());
    };
    const before = [...(this.#unanswered.get(socket) ?? [])].findLast(({ req }) => req.complete);
    if (before === undefined) end();
    else before.once('close', end);
  }
}
