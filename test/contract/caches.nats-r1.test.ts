import { openNatsCaches } from '../support/caches.ts';
import { startServer } from '../support/nats.ts';
import { cachesContract } from './caches.contract.ts';

cachesContract('caches on one server', async () => {
  const server = await startServer();
  const broker = await openNatsCaches(server.url, 1);
  return {
    ...broker,
    close: async () => {
      await broker.close();
      await server.stop();
    },
  };
});
