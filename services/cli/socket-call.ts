import { WebSocket } from 'ws';
import { ApiError } from './api-client.ts';

/** What the gateway says on a WebSocket (docs/websocket.md), as far as one call needs it. */
type Told =
  | { readonly type: 'hello' }
  | { readonly type: 'res'; readonly ok: true; readonly result: unknown }
  | {
      readonly type: 'res';
      readonly ok: false;
      readonly error: { readonly code: string; readonly message: string; readonly retryAfterMs?: number };
    };

/** What a close code of the gateway's means in terms of HTTP. */
const closed = { 4401: ['unauthorized', 401], 4403: ['unauthorized', 401], 4429: ['overloaded', 429] } as const;
const closeProblem = (code: number, reason: string): ApiError => {
  const [name, status] = Object.hasOwn(closed, code) ? closed[code as keyof typeof closed] : (['unreachable', 0] as const);
  return new ApiError(name, status, reason || `the gateway closed the connection with ${code}`);
};

/** Makes one call over a WebSocket of its own and resolves with its result. Throws `ApiError`, as a call over HTTP does. */
export const callOverSocket = (
  { url, token }: { readonly url: string; readonly token: string },
  { method, params }: { readonly method: string; readonly params: unknown },
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws').replace(/\/+$/, '')}/v1/ws`);
    const end = (finish: () => void): void => {
      clearTimeout(timer);
      finish();
      socket.close();
    };
    const unreachable = (why: string): void =>
      end(() => reject(new ApiError('unreachable', 0, `no answer from ${url} (${why}); is "natter up" running?`)));
    const timer = setTimeout(() => unreachable(`nothing for ${timeoutMs / 1_000} s`), timeoutMs);
    const send = (frame: object): void => socket.send(JSON.stringify(frame));

    socket.on('open', () => send({ type: 'auth', token }));
    socket.on('message', (data) => {
      const told = JSON.parse(data.toString()) as Told;
      if (told.type === 'hello') return send({ type: 'req', id: 1, method, params });
      if (told.ok) return end(() => resolve(told.result));
      const { code, message, retryAfterMs } = told.error;
      end(() => reject(new ApiError(code, 0, message, { retryAfterMs })));
    });
    socket.on('error', ({ message }) => unreachable(message));
    socket.on('close', (code, reason) => end(() => reject(closeProblem(code, reason.toString()))));
  });
