import { connect, type Socket } from 'node:net';

/** Clients that cost the driver next to nothing, so that the gateway is what is measured. They know what it answers and no more of HTTP. */

const connected = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.setNoDelay(true)));
    socket.once('error', reject);
  });

/** A connection that is kept: sends a request and resolves with the status once all of its answer, which tells its length, is there. */
export const openCaller = async (port: number): Promise<{ ask(request: string): Promise<number>; close(): void }> => {
  const socket = await connected(port);
  let answered: (status: number) => void = () => {};
  let heard = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    heard += chunk;
    const head = heard.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(heard)?.[1] ?? 0);
    if (heard.length < head + 4 + length) return;
    const status = Number(heard.slice(9, 12));
    heard = '';
    answered(status);
  });
  const ask = (request: string): Promise<number> =>
    new Promise((resolve) => {
      answered = resolve;
      socket.write(request);
    });
  return { ask, close: () => socket.destroy() };
};

/** An event stream; `take` is handed the text of each piece that comes. */
export const openEvents = async (port: number, head: string, take: (text: string) => void): Promise<Socket> => {
  const socket = await connected(port);
  socket.write(`GET /v1/events HTTP/1.1\r\n${head}accept: text/event-stream\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.setEncoding('latin1').on('data', take);
  return socket;
};
