import { startCluster } from '../../support/nats.ts';
import { natsWorkQueue } from './work-queue.broker.ts';
import { workQueueContract } from './work-queue.contract.ts';

workQueueContract('nats R3', async () => {
  const cluster = await startCluster();
  return { queue: () => natsWorkQueue(cluster.url, 3), close: () => cluster.stop() };
});
