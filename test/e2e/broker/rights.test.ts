import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { headers, type Msg } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { credentialsOf, makeUsers, usersIn } from '../../../services/cli/broker/users.ts';
import { checkUser, refusedOn } from '../../../services/cli/runtime/broker-check.ts';
import { closeConnection, openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { brokerUsers } from '../../../shared/wire/grants.ts';
import { probesFor } from '../../../shared/wire/probes.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { messages, requests, streamRows } from '../../support/docs/rights-by-hand.ts';
import { grantsIn } from '../../support/docs/rights-docs.ts';
import { type ServerAddress, type ServerOptions, startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

/**
 * Each user of the broker tries everything, and may do exactly what the table in docs/operate/broker.md says. What a letter of the table
 * stands for is in test/support/docs/rights-by-hand.ts.
 */
const page = readFileSync(new URL('../../../docs/operate/broker.md', import.meta.url), 'utf8');
const table = grantsIn(page);
const channel = 'probe';
const partitions = 2;
const topology = topologyOf(subjectsUnder('natter'), { replicas: 1, partitions });
const probes = probesFor(subjectsUnder('natter'), topology);
const names = brokerUsers.map((user) => (user === 'connector' ? `connector-${channel}` : user));

const has = (user: string, rows: readonly string[], letters: string): boolean =>
  rows.some((row) => [...(table.get(row)?.get(user) ?? '')].some((letter) => letter !== ' ' && letters.includes(letter)));

const mayPublish = (user: string, subject: string): boolean => {
  if (subject === '$JS.API.INFO') return ['operator', 'provisioner'].includes(user);
  if (['$JS.API.STREAM.NAMES', '$JS.API.STREAM.LIST'].includes(subject)) return !['connector', 'reader'].includes(user);
  for (const [pattern, letters, about] of requests) {
    const [, stream = '', consumer = ''] = pattern.exec(subject) ?? [];
    if (stream !== '') return has(user, streamRows(stream, about && consumer), letters);
  }
  return mayUse(user, subject, 'w');
};
const maySubscribe = (user: string, name: string, subject: string): boolean =>
  subject === `_INBOX_${name}.>` || mayUse(user, subject, 'h');
/** Of an operator's wide subscriptions to messages none is in the table. */
const mayUse = (user: string, subject: string, letter: string): boolean =>
  messages.some(([pattern, ...rows]) => {
    const [whole, part = ''] = pattern.exec(subject) ?? [];
    return (
      whole !== undefined &&
      has(
        user,
        rows.map((row) => row.replace('%', part)),
        letter,
      )
    );
  });

const refusedByTable = (name: string, user: string) => ({
  publish: probes.publish.filter((subject) => !mayPublish(user, subject)).sort(),
  subscribe: probes.subscribe.filter((subject) => !maySubscribe(user, name, subject)).sort(),
});
const refusedTo = async (server: TestServer, name: string) => {
  const address = { servers: server.url, ...credentialsOf(server.usersDir, name) };
  const connection = await openConnection({ ...address, name: 'hostile', requestTimeoutMs: 5_000 });
  try {
    const { publish, subscribe } = await refusedOn(connection, probes);
    return { publish: [...publish].sort(), subscribe: [...subscribe].sort() };
  } finally {
    await closeConnection(connection);
  }
};
const startHostile = async (options: ServerOptions) => {
  const storeDir = mkdtempSync(join(tmpdir(), 'natter-rights-'));
  makeUsers(join(storeDir, 'users'), [channel]);
  const server = await startServer({ ...options, hostile: true, storeDir });
  await provisionFor(server, { partitions });
  return server;
};

describe.each([
  ['off', ''],
  ['on', 'feature_flags { js_ack_fc_v2: true }'],
])('with js_ack_fc_v2 %s', (_, configuration) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startHostile({ configuration });
  });
  afterAll(() => server.stop());

  test.each(names.map((name, index) => [name, brokerUsers[index] ?? '']))(
    '%s may do what the table says and nothing else',
    async (name, user) => {
      expect(await refusedTo(server, name)).toEqual(refusedByTable(name, user));
    },
  );

  test('a * at the end of a right is one token: nobody hears what is deeper, however they subscribe', async () => {
    const ended = probes.subscribe.filter((subject) => subject.endsWith('.*'));
    const shallow = (subject: string) => subject.replaceAll('*', 'probe');
    const deeper = (subject: string) => `${shallow(subject)}.deeper`;
    const prefixes = ended.flatMap((subject) => subject.split('.').map((_, at, all) => all.slice(0, at).join('.')));
    const wide = new Set(prefixes.filter((prefix) => prefix !== '').map((prefix) => `${prefix}.>`));
    const open = async (address: ServerAddress) => {
      const connection = await openConnection({ ...address, name: 'hostile', requestTimeoutMs: 5_000 });
      onTestFinished(() => closeConnection(connection));
      return connection;
    };
    const listeners = names.map(async (name, index) => {
      const connection = await open({ servers: server.url, ...credentialsOf(server.usersDir, name) });
      const heard = new Set<string>();
      const callback = (error: Error | null, message: Msg) => void (error ?? heard.add(message.subject));
      for (const subject of [...ended, ...wide]) connection.subscribe(subject, { callback });
      await connection.flush();
      const may = (subject: string) => maySubscribe(brokerUsers[index] ?? '', name, subject);
      const allowed = ended.flatMap((subject) => [
        ...(may(subject) ? [shallow(subject)] : []),
        // A right for all deliveries is wide by itself.
        ...(subject.startsWith('natter.delivery.') && may('natter.delivery.>') ? [deeper(subject)] : []),
      ]);
      return { name, connection, heard, allowed };
    });
    const listening = await Promise.all(listeners);
    const tester = await open(server.as('tester'));
    const unstored = headers();
    unstored.set('Nats-Expected-Stream', 'natter-probe');
    for (const subject of ended.flatMap((each) => [shallow(each), deeper(each)]))
      tester.publish(subject, '', { headers: unstored });
    await tester.flush();
    for (const { name, connection, heard, allowed } of listening) {
      await connection.flush();
      expect([name, ...[...heard].sort()]).toEqual([name, ...[...new Set(allowed)].sort()]);
    }
  });

  test('what is tried out leaves nothing behind', async () => {
    const connection = await openConnection({ ...server.as('tester'), name: 'test', requestTimeoutMs: 5_000 });
    const { streams, consumers } = await jetstreamManager(connection, { checkAPI: false });
    const found = topology.streams.map(async ({ name }) => {
      const { state, config } = await streams.info(name);
      const stored = state.last_seq < 1e12 ? state.last_seq : state.messages;
      return { name, stored, consumers: state.consumer_count, subjects: config.subjects };
    });
    expect(await Promise.all(found)).toEqual(
      topology.streams.map(({ name, subjects }) => {
        const own = topology.consumers.filter(({ stream }) => stream === name);
        return { name, stored: 0, consumers: own.length, subjects };
      }),
    );
    expect((await consumers.info('NATTER_TIMERS', 'commands')).delivered.consumer_seq).toBe(0);
    await closeConnection(connection);
  });
});

test('a test in which a service tries what it has no right to fails, and is told which', async () => {
  const server = await startServer();
  const connection = await openConnection({ ...server.as('router'), name: 'test', requestTimeoutMs: 5_000 });
  connection.publish('natter.event.probe', '');
  connection.subscribe('natter.event.>');
  await connection.flush();
  await closeConnection(connection);
  await expect(server.stop()).rejects.toThrow(/router.*"natter\.event\.probe"[\s\S]*router.*"natter\.event\.>"/);
});

test('one right too much is found, by this matrix and by natter broker check', async () => {
  const server = await startHostile({ excess: { user: 'router', publish: 'natter.event.>' } });
  onTestFinished(() => server.stop());
  const found = await refusedTo(server, 'router');
  const wanted = refusedByTable('router', 'router');
  expect(found.publish).not.toEqual(wanted.publish);
  expect(wanted.publish.filter((subject) => !found.publish.includes(subject))).toEqual([
    'natter.event.lost',
    'natter.event.probe',
  ]);
  const config = loadConfig({ env: { NATS_URL: server.url, NATS_USERS_DIR: server.usersDir }, home: server.storeDir });
  const problems = usersIn(server.usersDir).map(async (user) => [user.name, await checkUser(config, server.url, user)]);
  expect(Object.fromEntries(await Promise.all(problems))).toEqual({
    ...Object.fromEntries(names.map((name) => [name, []])),
    router: ['natter.event.probe', 'natter.event.lost'].map((subject) => `may, but must not publish ${subject}`),
  });
});
