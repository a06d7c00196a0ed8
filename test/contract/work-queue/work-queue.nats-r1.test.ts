import { startServer } from '../../support/nats.ts';
import { natsWorkQueue } from './work-queue.broker.ts';
import { workQueueContract } from './work-queue.contract.ts';

workQueueContract('nats R1', async () => {
  const server = await startServer();
  return { queue: () => natsWorkQueue(server.url, 1), close: () => server.stop() };
});
