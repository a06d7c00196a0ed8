import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { listener } from '../listener.ts';
import type { StoredMessage } from './verdict.ts';

/** What the platform does with one request: a status, or what goes wrong besides. `late`: it answers, but after others. */
export type Reaction =
  | 'store'
  | 'store_and_cut'
  | 'cut'
  | 'store_and_500'
  | 'hang'
  | 'store_late'
  | { readonly status: number; readonly retryAfterSeconds?: number };

export interface PlatformRequest {
  readonly id: string;
  readonly text: string;
  readonly to: string;
  readonly plain?: boolean;
  readonly part?: { readonly index: number; readonly count: number };
}

export interface ScriptedPlatform {
  readonly url: string;
  /** What people see, in this order. */
  readonly stored: readonly (StoredMessage & PlatformRequest)[];
  /** Every request, also those that came to nothing. */
  readonly requests: readonly PlatformRequest[];
  close(): Promise<void>;
}

/**
 * A chat platform behind a webhook that fails as `react` says; `nth` counts the requests with the same id. With `recognises` it stores a
 * message of the same id once. A GET with an `id` is told whether that message is stored.
 */
export const startScriptedPlatform = async (
  react: (request: PlatformRequest, nth: number) => Reaction,
  { recognises = true, lateMs = 20 } = {},
): Promise<ScriptedPlatform> => {
  const stored: (StoredMessage & PlatformRequest)[] = [];
  const requests: PlatformRequest[] = [];
  const store = (request: PlatformRequest): void => {
    if (!recognises || !stored.some(({ id }) => id === request.id)) stored.push(request);
  };
  const answer = (request: PlatformRequest, reaction: Reaction, response: ServerResponse): unknown => {
    const accept = () => response.writeHead(204, { 'natter-message-id': `m-${request.id}` }).end();
    if (typeof reaction === 'object') {
      const { status, retryAfterSeconds } = reaction;
      if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
      return response.writeHead(status).end();
    }
    if (reaction !== 'hang' && reaction !== 'cut') store(request);
    switch (reaction) {
      case 'store':
        return accept();
      case 'store_late':
        return setTimeout(accept, lateMs);
      case 'store_and_500':
        return response.writeHead(500).end();
      case 'cut':
      case 'store_and_cut':
        return response.destroy();
      case 'hang':
        return undefined;
    }
  };
  const tell = (id: string, response: ServerResponse): void => {
    const isStored = stored.some((message) => message.id === id);
    const named = { 'natter-delivery-id': id, ...(isStored && { 'natter-message-id': `m-${id}` }) };
    response.writeHead(isStored ? 204 : 404, named).end();
  };
  const server = createServer(
    listener(async (incoming, response) => {
      const asked = new URL(incoming.url ?? '/', 'http://platform').searchParams.get('id');
      if (asked !== null) return tell(asked, response);
      const body = JSON.parse(Buffer.concat(await incoming.toArray()).toString());
      // A busy machine may read a request after its sender has given it up and sent the next one: nothing keeps these in order. The end of a
      // connection is read one turn of the loop after the request.
      for (let turn = 0; turn < 2; turn++) await setImmediate();
      if (incoming.socket.readableEnded || incoming.socket.destroyed) return;
      const request: PlatformRequest = { ...body, to: body.to.to };
      requests.push(request);
      answer(request, react(request, requests.filter(({ id }) => id === request.id).length), response);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stored,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
