import { startCluster } from '../../support/nats.ts';
import { eventLogOutageContract, eventStream, natsEventLog } from './event-log.broker.ts';
import { eventLogContract } from './event-log.contract.ts';

eventLogContract('NATS, cluster of three', async () => {
  const cluster = await startCluster();
  const test = await natsEventLog(cluster.url, 3);
  return {
    ...test,
    close: async () => {
      await test.close();
      await cluster.stop();
    },
  };
});

eventLogOutageContract('NATS, cluster of three', async () => {
  const cluster = await startCluster();
  return {
    servers: cluster.url,
    replicas: 3,
    pause: async () => {
      const leader = await cluster.leaderOf(eventStream);
      await leader.pause();
      return leader.resume;
    },
    kill: async () => {
      const leader = await cluster.leaderOf(eventStream);
      await leader.kill9();
      return leader.restart;
    },
    stop: cluster.stop,
  };
});
