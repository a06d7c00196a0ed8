import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network before a server: it can fall silent, so that connections stay open, new ones are made, and nothing gets through. */
export interface SilentNetwork {
  readonly port: number;
  fallSilent(): void;
  /** What was on its way arrives, as TCP sends it again. */
  heal(): void;
  close(): void;
}

export const startSilentNetwork = async (port: number): Promise<SilentNetwork> => {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ pauseOnConnect: true }, (client) => {
    const beyond = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [client, beyond],
      [beyond, client],
    ] as const) {
      sockets.add(one);
      one.on('data', (bytes) => other.write(bytes));
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      if (isSilent) one.pause();
      else one.resume();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    fallSilent: () => {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    heal: () => {
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
