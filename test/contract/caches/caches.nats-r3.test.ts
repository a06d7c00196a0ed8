import { openNatsCaches } from '../../support/caches.ts';
import { startCluster } from '../../support/nats.ts';
import { cachesContract } from './caches.contract.ts';

cachesContract('caches on a cluster', async () => {
  const cluster = await startCluster();
  const broker = await openNatsCaches(cluster.url, 3);
  return {
    ...broker,
    close: async () => {
      await broker.close();
      await cluster.stop();
    },
  };
});
