import { createApprovals } from './approvals.ts';
import { type FollowOptions, followEvents } from './event-stream.ts';
import { type CallOptions, createHttp, type HttpOptions } from './http.ts';
import { operationAt } from './operation-at.ts';
import { createRuns } from './runs.ts';
import { createSessions, type ReadOptions } from './sessions.ts';
import { Connection, type ConnectOptions } from './socket.ts';
import type { WebSocketConstructor } from './socket-frames.ts';
import type { StreamItem } from './types.ts';

/** The client of Natter's gateway for browsers and Node (docs/integrate/client.md): its HTTP API, event streams and WebSocket. */

export { NatterApiError, type ProblemItem, type UnavailableReason } from './errors.ts';
export type { FollowOptions } from './event-stream.ts';
export { type CallOptions, type Query, sessionPath } from './http.ts';
export type { HistoryOptions, ListOptions, PageOptions, ReadOptions, RunOptions, WriteOptions } from './sessions.ts';
export type { Connection, ConnectOptions, SocketCallOptions } from './socket.ts';
export type { WebSocketConstructor, WebSocketLike } from './socket-frames.ts';
export type * from './system/answers.ts';
export type * from './system/undelivered.ts';
export type * from './types.ts';

export interface ClientOptions extends HttpOptions {
  /** Needed for `connect` where there is no global `WebSocket`, as in Node 20. Use the one of the package `ws`. */
  readonly WebSocket?: WebSocketConstructor;
}

/** A ticket opens one event stream, once, within 30 s. `url` is the address for an `EventSource`. */
export interface Ticket {
  readonly ticket: string;
  readonly expiresAt: number;
  readonly url: string;
}

/** Creates a client of the gateway at `url`. Errors occur only when it is used. */
export const createClient = (options: ClientOptions) => {
  const http = createHttp(options);
  return {
    url: http.url,
    /** Makes any other call of docs/integrate/http-api.md, by its path. */
    get: <T>(path: string, given?: CallOptions): Promise<T> => http.call('GET', path, undefined, given),
    post: <T>(path: string, body: unknown, given?: CallOptions): Promise<T> => http.call('POST', path, body, given),
    delete: <T>(path: string, given?: CallOptions): Promise<T> => http.call('DELETE', path, undefined, given),
    sessions: createSessions(http),
    runs: createRuns(http),
    approvals: createApprovals(http),
    /** Events over SSE, from history to live. Connects when the reader asks for the first one. */
    events: (filter: FollowOptions = {}): AsyncGenerator<StreamItem, void> => followEvents(http, filter),
    /** Creates a ticket, with which a page can open an event stream without its token. The path may have a query. */
    ticket: async (path: string, given?: ReadOptions): Promise<Ticket> => {
      const [plain = '', query] = path.split('?', 2);
      const made = await http.call<Omit<Ticket, 'url'>>(...operationAt('createTicket', {}), { path: plain }, given);
      return { ...made, url: `${http.url}${plain}?${query === undefined ? '' : `${query}&`}ticket=${made.ticket}` };
    },
    /** Opens a WebSocket. Resolves once the gateway has accepted the token. */
    connect: async (given: ConnectOptions = {}): Promise<Connection> => {
      const WebSocket = options.WebSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
      if (WebSocket === undefined) throw new TypeError('there is no WebSocket here; give createClient one, such as that of "ws"');
      return new Connection(http, WebSocket, given).open();
    },
  };
};
export type NatterClient = ReturnType<typeof createClient>;
