import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { heal } from '../../../shared/adapters/nats/provision.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { commitTo, freshKey } from '../../support/domain/commits.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

/** Whoever has the right can change the broker under a running system: it is seen. How soon, the unit test of the watch says. */
const config = configSchema.parse({ nats: { partitions: 4, requestTimeoutMs: 1_000 } });
const topology = topologyOf(subjectsUnder('natter'), { replicas: 1, partitions: 4 });
const events = 'NATTER_EVENTS';
const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
let server: TestServer;
let ports: Ports;
let intruder: NatsConnection;
let manager: JetStreamManager;
let aheadMs: number;
beforeEach(async () => {
  aheadMs = 0;
  server = await startServer();
  await provisionFor(server, { partitions: 4 });
  intruder = await openConnection({ servers: server.url, name: 'intruder', requestTimeoutMs: 1_000 });
  manager = await jetstreamManager(intruder, { checkAPI: false });
  ports = await openNats(config, { name: 'test', clock, ...server.as('session') });
});
afterEach(async () => {
  await ports.close();
  await intruder.close();
  await server.stop();
});

const codes = () => [...new Set(ports.problems().map(({ code }) => code))];
const become = (expected: readonly string[]) => vi.waitFor(() => expect(codes()).toEqual(expected));

test('a deleted consumer is named, and heal makes it again', async () => {
  expect(ports.problems()).toEqual([]);
  await manager.consumers.delete('NATTER_COMMANDS', 'partition-3');
  await become(['consumers_missing']);
  expect(ports.problems()).toEqual([expect.objectContaining({ message: 'NATTER_COMMANDS lacks 1 of 4 consumers: partition-3' })]);
  expect(await heal(intruder, topology)).toEqual(['NATTER_COMMANDS/partition-3']);
  await become([]);
});

test('one deleted while a foreign one is there is missed all the same', async () => {
  await manager.consumers.delete('NATTER_TIMERS', 'commands');
  await manager.consumers.add('NATTER_TIMERS', {
    durable_name: 'foreign',
    ack_policy: 'explicit',
    filter_subject: 'natter.due.x',
  });
  await manager.consumers.add('NATTER_TIMERS', {
    durable_name: 'another',
    ack_policy: 'explicit',
    filter_subject: 'natter.due.y',
  });
  await become(['consumers_missing']);
});

test.each([
  ['a limit', { max_age: 3_600_000_000_000 }, 'max_age is 3600000000000, not unset'],
  ['a deny flag', { deny_purge: true }, 'deny_purge is true, not unset'],
  ['the subjects', { subjects: ['natter.event.>', 'elsewhere'] }, 'subjects is .*"elsewhere"'],
])('%s of the log changed by hand is told with the setting', async (_, change, told) => {
  await manager.streams.update(events, change);
  await become(['stream_changed']);
  expect(ports.problems().join()).toMatch(new RegExp(`${events}: ${told}`));
});

test('a deleted stream is named, and heal does not begin a new one', async () => {
  await manager.streams.delete('NATTER_DELIVERIES');
  await become(['streams_missing']);
  expect(ports.problems().join()).toContain('NATTER_DELIVERIES');
  expect(await heal(intruder, topology)).toEqual([]);
  expect(codes()).toEqual(['streams_missing']);
});

test('a log at a limit of its operator is full at the first refusal, and well again with the next commit', async () => {
  const append = () => ports.events.append(commitTo(freshKey()), 0);
  expect(await append()).toMatchObject({ kind: 'stored' });
  const { state } = await manager.streams.info(events);
  await manager.streams.update(events, { max_bytes: state.bytes });
  expect(await append()).toMatchObject({ kind: 'unknown', cause: expect.stringMatching(/^full/) });
  expect(codes()).toEqual(['storage_full']);
  expect((await manager.streams.info(events)).state, 'F9: the newest is refused, none that is stored is dropped').toEqual(state);
  await manager.streams.update(events, { max_bytes: -1 });
  expect(await append()).toMatchObject({ kind: 'stored' });
  expect(codes()).toEqual([]);
});

test('a store that refuses is noticed without a commit, and leaves no trace in the log', async () => {
  await manager.streams.update('NATTER_PROBE', { no_ack: true });
  await vi.waitFor(() => expect(codes()).toEqual(['stream_changed', 'write_probe_failed']));
  await manager.streams.update('NATTER_PROBE', { no_ack: false });
  await become([]);
  expect((await ports.events.info()).lastSeq).toBe(0);
});

test('one append whose answer never came is forgotten, though no other follows', async () => {
  await server.pause();
  expect(await ports.events.append(commitTo(freshKey()), 0)).toMatchObject({ kind: 'unknown' });
  server.resume();
  aheadMs = 60_000;
  await become([]);
});

test('a probe that was under way when the broker was restarted says nothing of the new one', async () => {
  await manager.streams.update('NATTER_PROBE', { no_ack: true });
  await vi.waitFor(() => expect(codes()).toContain('write_probe_failed'));
  await manager.streams.update('NATTER_PROBE', { no_ack: false });
  await server.restart();
  await become([]);
});

test('appends that the broker refuses are a missing right, not a disk that fails', async () => {
  const strict = await startServer({ hostile: true });
  await provisionFor(strict, { partitions: 4 });
  const refused = await openNats(config, { name: 'test', clock, ...strict.as('router') });
  const seen = async (): Promise<readonly string[]> => {
    await refused.events.append(commitTo(freshKey()), 0).catch(() => {});
    return refused.problems().map(({ code, message }) => `${code}: ${message}`);
  };
  await seen();
  aheadMs = 5_000;
  expect(await seen()).toEqual(Array(2).fill(expect.stringMatching(/^permission_denied: .* may not publish to "natter\.event/)));
  await refused.close();
  await strict.stop();
});
