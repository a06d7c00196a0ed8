import { WebSocket } from 'ws';
import { afterwards, token } from '../setup.ts';

export type Frame = any;

/** A plain client: what it gets, in the order it comes. */
export interface Client {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  readonly closed: Promise<{ code: number; reason: string }>;
  send(frame: unknown): void;
  /** Makes a call, and resolves with its answer. */
  call(method: string, params?: object): Promise<Frame>;
  /** The next frame of this type, those before it included. */
  next(type: string): Promise<Frame>;
  /** Ids of the events of a subscription, or of all. */
  ids(subscription?: string): string[];
}

/** Connects without a word, from an address of this machine. */
export const knock = (url: string, headers: Record<string, string> = {}, localAddress = '127.0.0.1'): Client => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, { headers, localAddress });
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data) => {
    frames.push(JSON.parse(data.toString()));
    for (const wake of waiting) wake();
    waiting.clear();
  });
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  afterwards(async () => socket.terminate());
  const until = async (wanted: (frame: Frame) => boolean): Promise<Frame> => {
    for (;;) {
      const found = frames.find(wanted);
      if (found !== undefined) return found;
      const more = new Promise<'more'>((resolve) => waiting.add(() => resolve('more')));
      const ended = await Promise.race([more, closed]);
      if (ended !== 'more') throw new Error(`closed: ${JSON.stringify(ended)}`);
    }
  };
  let calls = 0;
  const send = (frame: unknown): void => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  return {
    ...{ socket, frames, closed, send },
    call: (method, params) => {
      calls += 1;
      const id = `call ${calls}`;
      send({ type: 'req', id, method, ...(params && { params }) });
      return until((frame) => frame.id === id && frame.type === 'res');
    },
    next: (type) => until((frame) => frame.type === type),
    ids: (subscription) =>
      frames.filter(({ type, subscription: of }) => type === 'event' && (subscription ?? of) === of).map(({ id }) => id),
  };
};

export const opened = (client: Client): Promise<void> => new Promise((resolve) => client.socket.on('open', resolve));

/** Connects and authenticates. */
export const connect = async (url: string, secret: string = token): Promise<Client> => {
  const client = knock(url);
  await opened(client);
  client.send({ type: 'auth', token: secret });
  await client.next('hello');
  return client;
};
