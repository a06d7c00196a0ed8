import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Connection } from '../../../shared/client/main.ts';
import { afterwards } from '../gateway/setup.ts';

/** One address before several gateways: new connections go to one of them, until it is the next one's turn. */
export interface Balancer {
  readonly url: string;
  /** Connections that were made. */
  made(): number;
  /** Cuts all connections; the next ones go to the next gateway. */
  takeOver(): void;
}
export const startBalancer = async (urls: readonly string[]): Promise<Balancer> => {
  const sockets = new Set<Socket>();
  let turn = 0;
  let made = 0;
  const server = createServer((socket) => {
    made += 1;
    const { hostname, port } = new URL(urls[turn % urls.length] ?? '');
    const beyond = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, beyond],
      [beyond, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(async () => {
    cut();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    made: () => made,
    takeOver: () => {
      turn += 1;
      cut();
    },
  };
};

/** Ends with the test: a connection left behind would try whatever listens on that port next. */
export const closedAfterwards = (connection: Connection): Connection => {
  afterwards(() => connection.close());
  return connection;
};
