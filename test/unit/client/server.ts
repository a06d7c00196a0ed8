import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createClient } from '../../../shared/client/main.ts';
import { listener } from '../../support/listener.ts';

/** A gateway that answers as told, until the test is over, and a client of it. */
export const serve = async (answer: Parameters<typeof listener>[0]) => {
  const server = createServer(listener(answer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, client: createClient({ url, token: 'secret-token' }) };
};
