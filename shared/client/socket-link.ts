import type { NatterApiError } from './errors.ts';
import { closeProblem, type Frame, frameIn, type WebSocketConstructor } from './socket-frames.ts';

/** How often to check for silence, after how much silence to send a probe, and after how much to give up. */
const lookMs = 5_000;
const askMs = 30_000;
const silentMs = 45_000;
/** How long the gateway may take to greet. */
const greetingMs = 15_000;

/** One WebSocket connection. */
export interface Link {
  send(frame: string): void;
  close(): void;
  /** Resolves with the reason when the connection ends. */
  readonly ended: Promise<NatterApiError>;
}
export interface LinkOptions {
  readonly url: string;
  readonly token: string;
  readonly WebSocket: WebSocketConstructor;
  /** Called when the gateway has accepted the token. */
  greeted(): void;
  /** Called with each frame and its length in characters. */
  take(frame: Exclude<Frame, { type: 'hello' }>, characters: number): void;
}

/** Connects, sends the token in the first frame, and passes on the gateway's frames. Gives up a silent connection. */
export const openLink = ({ url, token, WebSocket, greeted, take }: LinkOptions): Link => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`);
  let isGreeted = false;
  let heardAt = performance.now();
  let failure = '';
  let isOver = false;
  let ending = (_: NatterApiError): void => {};
  const ended = new Promise<NatterApiError>((resolve) => {
    ending = resolve;
  });
  const end = (code: number, reason: string): void => {
    clearInterval(watch);
    isOver = true;
    ending(closeProblem(url, { code, reason }, failure));
  };
  // Does not wait for the close handshake, which never finishes if the network is down.
  const close = (): void => {
    socket.close(1000);
    end(1006, '');
  };
  const giveUp = (why: string): void => {
    failure = why;
    close();
  };
  const look = (): void => {
    const quietMs = performance.now() - heardAt;
    if (quietMs > (isGreeted ? silentMs : greetingMs)) giveUp('it is silent');
    else if (isGreeted && quietMs > askMs) socket.send('{"type":"req","id":0,"method":"status"}');
  };
  const watch = setInterval(look, lookMs);
  socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', token })));
  socket.addEventListener('error', ({ message = '' }) => {
    failure = message;
  });
  socket.addEventListener('close', ({ code = 1006, reason = '' }) => end(code, reason));
  socket.addEventListener('message', ({ data }) => {
    if (isOver) return;
    heardAt = performance.now();
    const text = String(data);
    try {
      const frame = frameIn(text);
      if (frame.type !== 'hello') return take(frame, text.length);
      isGreeted = true;
      greeted();
    } catch {
      giveUp('it speaks another protocol');
    }
  });
  return { send: (frame) => socket.send(frame), close, ended };
};
