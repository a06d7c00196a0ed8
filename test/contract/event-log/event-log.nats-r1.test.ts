import { startServer } from '../../support/nats.ts';
import { eventLogOutageContract, natsEventLog } from './event-log.broker.ts';
import { eventLogContract } from './event-log.contract.ts';

eventLogContract('NATS, one server', async () => {
  const server = await startServer();
  const test = await natsEventLog(server.url, 1);
  return {
    ...test,
    close: async () => {
      await test.close();
      await server.stop();
    },
  };
});

eventLogOutageContract('NATS, one server', async () => {
  const server = await startServer();
  return {
    servers: server.url,
    replicas: 1,
    pause: async () => {
      await server.pause();
      return server.resume;
    },
    kill: async () => {
      await server.kill9();
      return server.restart;
    },
    restartEmpty: () => server.restart({ empty: true }),
    stop: server.stop,
  };
});
