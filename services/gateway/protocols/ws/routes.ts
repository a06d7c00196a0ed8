import websocket from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { Guard } from '../../access/auth.ts';
import type { TokenBearer } from '../../context/callers.ts';
import { EventFrames } from '../../context/event-frames.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { noQuery, queryOf } from '../../http/input.ts';
import { Connection } from './connection.ts';

const path = '/v1/ws';
/** Where the frame that the library closes a connection for belongs: it gives no reason itself. */
const tooBig = `a frame has at most ${limits.commandBytes} bytes; call the same method with POST /v1/rpc, which takes files`;
const sayTooBig = (socket: WebSocket): void => {
  const close = socket.close.bind(socket);
  socket.close = (code, reason) => close(code, code === 1009 ? tooBig : reason);
};
/** How long clients have to close when the gateway stops. */
const goodbyeMs = 1_000;

/** `GET /v1/ws`: calls and events over one WebSocket (docs/integrate/websocket.md). The token is in the header or in the first frame. */
export const webSocketRoutes = (app: FastifyInstance, context: GatewayContext, guard: Guard): void => {
  const { clock } = context.ports;
  const frames = new EventFrames((_, event) => JSON.stringify(event));
  const callers = new WeakMap<FastifyRequest, TokenBearer>();

  /** All clients were sent a close frame; those that do not answer are cut off. */
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
    // Protocol errors are closed by the library, with the protocol's own codes.
    errorHandler: (error) => context.log.debug({ err: error }, 'WebSocket failed'),
    preClose: sayGoodbye,
  });

  app.after(() => {
    // An upgrade removes a connection from the server's time limits: only one address may do that.
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
        const admit = (token: string): TokenBearer => {
          const caller = guard.admit(token, request);
          request.actor = caller.actor;
          return caller;
        };
        const refused = (error: unknown): void => context.audit.refused(request, error);
        const gateway = { context, frames, address: request.ip, admit, refused, count: guard.count };
        sayTooBig(socket);
        new Connection(socket, gateway, callers.get(request) ?? null);
      },
    });
  });
};
