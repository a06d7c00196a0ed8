import { NatterApiError } from './errors.ts';

/** The part of a WebSocket that is needed: browsers, Node 22 or newer, and the package `ws` have it. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}
export interface WebSocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** Frames of the gateway (docs/integrate/websocket.md). Unknown types are ignored. */
export type Frame =
  | { readonly type: 'hello'; readonly version: string; readonly methods: readonly string[] }
  | { readonly type: 'res'; readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly type: 'res'; readonly id: number; readonly ok: false; readonly error: unknown }
  | { readonly type: 'event'; readonly subscription: string; readonly id: string; readonly event: { readonly type: string } }
  | { readonly type: 'delta'; readonly subscription: string; readonly delta: object }
  | { readonly type: 'end'; readonly subscription: string; readonly after: string; readonly error: unknown };

/** Parses a frame. Throws if the text is not one. */
export const frameIn = (text: string): Frame => {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && 'type' in value) return value as Frame;
  throw new TypeError('this is no frame');
};

/** Close codes for problems that a new connection cannot fix: those of the program or its token. */
const lastingCodes: Readonly<Record<number, readonly [status: number, code: string]>> = {
  4400: [400, 'invalid'],
  4401: [401, 'unauthorized'],
};

/** The error for a connection that ended. */
export const closeProblem = (
  url: string,
  { code, reason }: { code: number; reason: string },
  failure: string,
): NatterApiError => {
  const [status, name] = lastingCodes[code] ?? (code === 4429 ? [429, 'overloaded'] : [0, 'unreachable']);
  const why = reason || failure || `the connection was closed with ${code}`;
  return new NatterApiError(status, { code: name, detail: name === 'unreachable' ? `no answer from ${url} (${why})` : why });
};
