import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { DoneMessages } from '../../../shared/adapters/nats/queue/done-messages.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { startServer, type TestServer } from '../../support/nats.ts';

const stream = 'NATTER_COMMANDS';
const topology = topologyOf(subjectsUnder('natter'), { replicas: 1, partitions: 1 });
let server: TestServer;
let connection: NatsConnection;
let manager: JetStreamManager;
beforeAll(async () => {
  server = await startServer();
  connection = await openConnection({ servers: server.url, name: 'test', requestTimeoutMs: 1_000 });
  manager = await jetstreamManager(connection, { checkAPI: false, timeout: 1_000 });
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});
beforeEach(async () => {
  await manager.streams.delete(stream).catch(() => {});
  await provision(connection, topology);
});

const open = (): DoneMessages =>
  new DoneMessages({ manager, stream, clock: systemClock, filterOf: (p) => `natter.command.${p}.*`, isConnected: () => true });
const publish = async (key: string): Promise<number> => (await manager.jetstream().publish(`natter.command.${key}`, key)).seq;
const stored = async (): Promise<number> => (await manager.streams.info(stream)).state.messages;

test('what is noted is removed up to there and no further, in the end at the latest when it closes', async () => {
  const done = open();
  const seqs = [await publish('a'), await publish('b'), await publish('c')];
  done.note(0, seqs[1] ?? 0);
  done.note(0, seqs[0] ?? 0);
  await done.close();
  expect(await stored()).toBe(1);
  expect((await manager.streams.info(stream)).state.first_seq).toBe(seqs[2]);
});

test('what is removed at once may be removed again: an answer that was lost holds nothing up', async () => {
  const done = open();
  const seqs = [await publish('a'), await publish('b'), await publish('c')];
  for (const seq of [...seqs.slice(1, 2), ...seqs, ...seqs]) expect(await done.removeNow(seq)).toBe(true);
  expect(await done.removeNow((seqs[2] ?? 0) + 100)).toBe(true);
  expect(await stored()).toBe(0);
  await done.close();
});

test('a sequence of an earlier life of the stream removes nothing of a later one, even by a process that noticed nothing', async () => {
  const done = open();
  for (let number = 0; number < 20; number++) done.note(0, await publish('a'));
  const old = await publish('a');
  await manager.streams.delete(stream);
  await provision(connection, topology);
  for (let number = 0; number < 5; number++) await publish('unread');
  await done.close();
  expect(await done.removeNow(old)).toBe(true);
  expect(await stored()).toBe(5);
});

test('a removal that does not succeed is tried again, and is a problem when much has come together (I11)', async () => {
  const done = open();
  const seq = await publish('a');
  await manager.streams.update(stream, { deny_purge: true });
  for (let number = 0; number <= limits.doneMessages; number++) done.note(0, seq);
  await vi.waitFor(() => expect(done.problems().join()).toMatch(/50001 completed messages.*purge/));
  await manager.streams.delete(stream);
  await provision(connection, topology);
  await vi.waitFor(() => expect(done.problems()).toEqual([]));
  await done.close();
});
