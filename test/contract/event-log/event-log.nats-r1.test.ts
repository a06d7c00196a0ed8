import { expect, test } from 'vitest';
import { commitTo, freshKey } from '../../support/domain/commits.ts';
import { startServer } from '../../support/nats.ts';
import { eventLogOutageContract, eventStream, natsEventLog } from './event-log.broker.ts';
import { eventLogContract, revsOf, stored } from './event-log.contract.ts';

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

test('on a stream of an older version, which takes no batches, commits are stored one by one (ADR 23)', async () => {
  const server = await startServer();
  const { log, manager, close } = await natsEventLog(server.url, 1);
  const { config } = await manager.streams.info(eventStream);
  await manager.streams.update(eventStream, { ...config, allow_atomic: false });
  for (let round = 0; round < 2; round += 1) {
    const results = await Promise.all([...Array(100)].map(() => log.append(commitTo(freshKey()), 0)));
    expect(results.map(({ kind }) => kind)).toEqual(results.map(() => 'stored'));
  }
  expect((await log.info()).lastSeq).toBe(200);
  await close();
  await server.stop();
});

test('a commit far from the others that is gone does not hide those before it (ADR 28)', async () => {
  const server = await startServer();
  const { log, manager, close } = await natsEventLog(server.url, 1);
  const key = freshKey();
  const seqs: number[] = [];
  for (let rev = 1; rev <= 4; rev++) {
    seqs.push(await stored(log, commitTo(key, { rev }), seqs.at(-1) ?? 0));
    await Promise.all([...Array(600)].map(() => stored(log, commitTo(freshKey()), 0)));
  }
  const [, , third = 0, upTo = 0] = seqs;
  await manager.streams.deleteMessage(eventStream, third);
  expect(await revsOf(log, key, { upTo })).toEqual([1, 2, 4]);
  await close();
  await server.stop();
});
