import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { credentialsOf, makeUsers, usersIn } from '../../../services/cli/broker/users.ts';
import { checkUser, refusedOn } from '../../../services/cli/runtime/broker-check.ts';
import { closeConnection, openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { brokerUsers } from '../../../shared/wire/grants.ts';
import { probesFor } from '../../../shared/wire/probes.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { grantsIn } from '../../support/docs/rights-docs.ts';
import { type ServerOptions, startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

/**
 * Each user of the broker tries everything, and may do exactly what the table in docs/operate/broker.md says. What a letter of the table
 * stands for is written here by hand: made from the same source it would repeat its mistakes.
 */
const page = readFileSync(new URL('../../../docs/operate/broker.md', import.meta.url), 'utf8');
const table = grantsIn(page);
const channel = 'probe';
const partitions = 2;
const topology = topologyOf(subjectsUnder('natter'), { replicas: 1, partitions });
const probes = probesFor(subjectsUnder('natter'), topology);
const names = brokerUsers.map((user) => (user === 'connector' ? `connector-${channel}` : user));

/** The rows of a stream, and of one of its consumers. */
const streamRows = (stream: string, consumer?: string): string[] =>
  ({
    NATTER_INBOUND: ['inbound'],
    NATTER_COMMANDS: ['commands'],
    NATTER_CHECKPOINTS: ['checkpoints'],
    NATTER_TIMERS: ['inbound', 'commands', 'checkpoints']
      .filter((queue) => consumer === undefined || consumer === queue)
      .map((queue) => `timers of ${queue}`),
    NATTER_EVENTS: ['events', 'places of lost events'],
    KV_natter_witness: ['witness', 'witness of queues'],
    NATTER_DELIVERIES: ['deliveries'],
    NATTER_DEAD: ['dead letters'],
    NATTER_AUDIT: ['audit', 'deletions in audit'],
    NATTER_PROBE: ['probes'],
    KV_natter_snapshots: ['snapshots'],
    KV_natter_index: ['index rows', 'position of the index', 'cursors'],
    KV_natter_hosts: ['health of processes', 'leases', 'members of inbound', 'members of commands', 'members of checkpoints'],
    KV_natter_tokens: ['tokens', 'tickets', 'calls'],
    KV_natter_pairings: ['pairings'],
    KV_natter_memory: ['memory'],
    OBJ_natter_attachments: ['attachments'],
  })[stream] ?? [];

/** Requests about a stream, and the letters of which one allows each. Of what is not here, nothing is allowed. */
const requests: readonly [RegExp, string, 'consumer'?][] = [
  [/^\$JS\.API\.STREAM\.INFO\.(\w+)$/, 'rcm'],
  [/^\$JS\.API\.STREAM\.MSG\.GET\.(\w+)$/, 'r'],
  [/^\$JS\.API\.DIRECT\.GET\.(\w+)(?:\.probe)?$/, 'r'],
  [/^\$JS\.API\.STREAM\.(?:CREATE|UPDATE)\.(\w+)$/, 'm'],
  [/^\$JS\.API\.STREAM\.PURGE\.(\w+)$/, 'p'],
  [/^\$JS\.API\.STREAM\.DELETE\.(\w+)$/, 'k'],
  [/^\$JS\.API\.STREAM\.MSG\.DELETE\.(\w+)$/, 'd'],
  [/^\$JS\.API\.STREAM\.SNAPSHOT\.(\w+)$/, 's'],
  [/^\$JS\.SNAPSHOT\.ACK\.(\w+)\.probe$/, 's'],
  [/^\$JS\.API\.STREAM\.RESTORE\.(\w+)$/, 'x'],
  [/^\$JS\.SNAPSHOT\.RESTORE\.(\w+)\.probe$/, 'x'],
  [/^\$JS\.API\.CONSUMER\.LIST\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS|TIMERS))$/, 'cm'],
  // A consumer is made with its name and what it takes, and only those of the topology.
  [/^\$JS\.API\.CONSUMER\.CREATE\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS))\.[\w-]+\.probe$/, 'm'],
  [/^\$JS\.API\.CONSUMER\.CREATE\.(NATTER_TIMERS)\.(\w+)\.probe$/, 'm', 'consumer'],
  [/^\$JS\.API\.CONSUMER\.INFO\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS|TIMERS))\.([\w-]+)$/, 'c', 'consumer'],
  [/^\$JS\.API\.CONSUMER\.MSG\.NEXT\.(\w+)\.([\w-]+)$/, 't', 'consumer'],
  [/^\$JS\.API\.CONSUMER\.UNPIN\.(NATTER_(?:INBOUND|COMMANDS|CHECKPOINTS))\.([\w-]+)$/, 't', 'consumer'],
  [/^\$JS\.ACK\.(?:domain\.hash\.)?(\w+)\.([\w-]+)\.1\.1\.1\.1\.1$/, 't', 'consumer'],
];

/** The subjects of messages, and the rows that they are in. */
const messages: readonly [RegExp, ...string[]][] = [
  [/^natter\.inbound\.(\*|probe)\.(\*|probe)$/, 'inbound', 'inbound of one channel'],
  [/^natter\.command\.(\*|probe)$/, 'commands'],
  [/^natter\.checkpoint\.(\*|probe)$/, 'checkpoints'],
  [/^natter\.timer\.(inbound|commands|checkpoints)\./, 'timers of %', 'timers of all'],
  [/^natter\.timer\.(?:\*|probe)\./, 'timers of all'],
  [/^natter\.event\.(?!lost)/, 'events'],
  [/^natter\.event\.lost$/, 'events', 'places of lost events'],
  [/^natter\.stored\./, 'notices of stored events'],
  [/^natter\.delivery\.(?!\*\.probe)/, 'deliveries'],
  [/^natter\.delivery\.\*\.probe/, 'deliveries', 'deliveries of one channel'],
  [/^natter\.dead\./, 'dead letters'],
  [/^natter\.audit\./, 'audit'],
  [/^natter\.audit\.session_deleted$/, 'audit', 'deletions in audit'],
  [/^natter\.audit\.pairing_approved$/, 'audit', 'pairings in audit'],
  [/^\$KV\.natter_snapshots\.(\*|probe)$/, 'snapshots'],
  [/^\$KV\.natter_index\.session\./, 'index rows'],
  [/^\$KV\.natter_index\.position$/, 'position of the index'],
  [/^\$KV\.natter_index\.cursor\./, 'cursors'],
  [/^\$KV\.natter_witness\.writers$/, 'witness'],
  [/^\$KV\.natter_witness\.queue\./, 'witness of queues'],
  [/^\$KV\.natter_memory\.memory\./, 'memory'],
  [/^\$O\.natter_attachments\.[CM]\./, 'attachments'],
  [/^\$KV\.natter_hosts\.health\./, 'health of processes'],
  [/^\$KV\.natter_hosts\.lease\./, 'leases'],
  [/^\$KV\.natter_hosts\.(inbound|commands|checkpoints)\./, 'members of %'],
  [/^\$KV\.natter_tokens\.token\./, 'tokens'],
  [/^\$KV\.natter_tokens\.ticket\./, 'tickets'],
  [/^\$KV\.natter_tokens\.call\./, 'calls'],
  [/^\$KV\.natter_pairings\.channel\./, 'pairings'],
  [/^natter\.live\./, 'live text'],
  [/^natter\.join$/, 'requests for live text'],
  [/^natter\.resume$/, 'requests to resume'],
  [/^natter\.probe$/, 'probes'],
  [/^natter\.anchor\.(inbound|commands|checkpoints)$/, '%'],
  [/^natter\.anchor\.timers$/, 'timers of inbound', 'timers of commands', 'timers of checkpoints'],
  [/^natter\.anchor\.(snapshots|memory|pairings)\./, '%'],
  [/^natter\.anchor\.index\./, 'index rows', 'position of the index', 'cursors'],
  [/^natter\.anchor\.witness\./, 'witness', 'witness of queues'],
  [/^natter\.anchor\.tokens\./, 'tokens', 'tickets', 'calls'],
  [
    /^natter\.anchor\.hosts\./,
    ...['health of processes', 'leases', 'members of inbound', 'members of commands', 'members of checkpoints'],
  ],
  [/^_INBOX_gateway\./, 'inbox of the gateway'],
  [/^_INBOX_checkpoint\./, 'inbox of checkpoint'],
  [/^_INBOX_operator\./, 'inbox of the operator'],
  [/^\$SRV\.(?:PING|INFO|STATS)(?:\.natter(?:\.(?:\*|probe))?)?$/, 'requests for what runs'],
];

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
