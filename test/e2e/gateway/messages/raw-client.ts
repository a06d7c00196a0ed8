import { connect, type Socket } from 'node:net';

/** Clients that keep to no rules. */

export interface RawClient {
  readonly socket: Socket;
  /** What has come so far. */
  readonly heard: () => string;
  /** When it was closed by the other end, or cut off, ms after it was made. */
  readonly closed: Promise<number>;
}

/** Connects and says this. It never hangs up by itself. */
export const rawClient = (url: string, says = ''): RawClient => {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => {
    for (const end of ['end', 'close']) socket.once(end, () => resolve(performance.now() - began));
  });
  if (says !== '') socket.write(says);
  return { socket, heard: () => heard, closed };
};

/** Resolves once it has connected or was cut off. */
export const settled = ({ socket, closed }: RawClient): Promise<unknown> =>
  socket.connecting ? Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]) : Promise.resolve();

/** Says a little again and again for as long as it is listened to. */
export const dripping = (client: RawClient, bytes: string, everyMs: number): RawClient => {
  const timer = setInterval(() => client.socket.writable && client.socket.write(bytes), everyMs);
  client.socket.once('close', () => clearInterval(timer));
  return client;
};
