import websocket from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Guard } from '../auth.ts';
import type { Caller } from '../callers.ts';
import type { GatewayContext } from '../context.ts';
import { EventFrames } from '../event-frames.ts';
import { noQuery, queryOf } from '../input.ts';
import { Connection } from '../ws/connection.ts';

const path = '/v1/ws';
/** How long clients have for their goodbye when the gateway stops. */
const goodbyeMs = 1_000;

/** `GET /v1/ws`: calls and events over one WebSocket (docs/integrate/websocket.md). A program may show its token in the header, others in the first frame. */
export const webSocketRoutes = (app: FastifyInstance, context: GatewayContext, guard: Guard): void => {
  const { clock } = context.ports;
  const frames = new EventFrames((_, event) => JSON.stringify(event));
  const callers = new WeakMap<FastifyRequest, Caller>();

  /** All clients were told that the gateway stops; who does not answer is cut off. */
  const sayGoodbye = async (): Promise<void> => {
    const { clients } = app.websocketServer;
    const left = new AbortController();
    const leave = (): void => (clients.size === 0 ? left.abort() : undefined);
    for (const client of clients) client.on('close', () => queueMicrotask(leave));
    leave();
    await clock.sleep(goodbyeMs, left.signal);
    for (const client of clients) client.terminate();
    app.websocketServer.close();
  };

  app.register(websocket, {
    options: { maxPayload: limits.commandBytes, perMessageDeflate: false, handleProtocols: () => false },
    // What is no WebSocket any more is closed by the protocol's own codes, which the library sends itself.
    errorHandler: (error) => context.log.debug({ err: error }, 'WebSocket failed'),
    preClose: sayGoodbye,
  });

  app.after(() => {
    // An upgrade takes a connection out of the server's hands, with its time limits: only one address does that.
    app.addHook('onRequest', async ({ ws, routeOptions }) => {
      if (!ws || routeOptions.url === path) return;
      throw new NatterError('invalid', `upgrade: WebSockets are at ${path}`, { field: 'upgrade' });
    });

    app.route({
      method: 'GET',
      url: path,
      config: { admitsItself: true },
      onRequest: async (request) => {
        queryOf(noQuery, request);
        if (request.ws && request.headers.authorization === undefined) return;
        const caller = guard.callerOf(request);
        request.actor = caller.actor;
        callers.set(request, caller);
      },
      handler: () => {
        throw new NatterError('invalid', 'upgrade: this address is for WebSockets (docs/integrate/websocket.md)', {
          field: 'upgrade',
        });
      },
      wsHandler: (socket: WebSocket, request: FastifyRequest) => {
        const admit = (token: string): Caller => {
          const caller = guard.admit(token, request);
          request.actor = caller.actor;
          return caller;
        };
        const refused = (error: unknown): void => context.audit.refused(request, error);
        const door = { context, frames, address: request.ip, admit, refused, count: guard.count };
        new Connection(socket, door, callers.get(request) ?? null);
      },
    });
  });
};
