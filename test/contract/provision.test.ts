import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createInMemoryDeadLetters } from '../../shared/adapters/in-memory/dead-letters.ts';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { ReplyInbox } from '../../shared/adapters/nats/client/reply-inbox.ts';
import { streamDrift } from '../../shared/adapters/nats/drift.ts';
import { openKvStore } from '../../shared/adapters/nats/kv-store.ts';
import { missingConsumers, missingStreams, provision } from '../../shared/adapters/nats/provision.ts';
import { Anchors, anchorsKept } from '../../shared/adapters/nats/publish/anchors.ts';
import { commandQueue } from '../../shared/adapters/nats/queue/work-queue.ts';
import { incarnationOf, restoredMark } from '../../shared/adapters/nats/stream-config.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { pinGroup, type StreamSpec, type Topology, topologyOf } from '../../shared/wire/topology.ts';
import { startCluster, startServer, type TestCluster, type TestServer } from '../support/nats.ts';
import { commandTo } from './work-queue/work-queue.contract.ts';

/** One server or three, with the same handful of operations. */
interface Broker {
  readonly url: string;
  readonly storeDirs: readonly string[];
  killAndRestartAll(): Promise<void>;
  stop(): Promise<void>;
}
const alone = (server: TestServer): Broker => ({
  ...server,
  storeDirs: [server.storeDir],
  killAndRestartAll: () => crash([server]),
});
const together = (cluster: TestCluster): Broker => ({
  ...cluster,
  storeDirs: cluster.nodes.map(({ storeDir }) => storeDir),
  killAndRestartAll: () => crash(cluster.nodes),
});
const crash = async (servers: readonly TestServer[]): Promise<void> => {
  await Promise.all(servers.map((server) => server.kill9()));
  await Promise.all(servers.map((server) => server.restart()));
};

const partitions = 4;
const commands = 'NATTER_COMMANDS';

describe.each([
  { name: 'R1', replicas: 1, start: () => startServer().then(alone) },
  { name: 'R3', replicas: 3, start: () => startCluster().then(together) },
])('provisioning on $name', ({ replicas, start }) => {
  const topology = topologyOf(subjectsUnder('natter'), { replicas, partitions });
  let broker: Broker;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  beforeAll(async () => {
    broker = await start();
    connection = await openConnection({ servers: broker.url, name: 'test', requestTimeoutMs: 2_000 });
    manager = await jetstreamManager(connection, { checkAPI: false, timeout: 2_000 });
  });
  afterAll(async () => {
    await connection.close();
    await broker.stop();
  });
  afterEach(async () => {
    const names = (await manager.streams.list().next()).map(({ config }) => config.name);
    await Promise.all(names.map((name) => manager.streams.delete(name)));
  });
  const changed = (stream: string, change: Partial<Topology['streams'][number]>): Topology => ({
    ...topology,
    streams: topology.streams.map((spec) => (spec.name === stream ? { ...spec, ...change } : spec)),
  });

  test('creates all that is missing, and the second time nothing', async () => {
    const first = await provision(connection, topology);
    expect(first.created).toHaveLength(topology.streams.length + topology.consumers.length);
    expect(first.drift).toEqual([]);
    expect(await provision(connection, topology)).toEqual({ created: [], updated: [], drift: [] });
  });

  test('two at once agree', async () => {
    const reports = await Promise.all([provision(connection, topology), provision(connection, topology)]);
    expect(reports.flatMap(({ drift }) => drift)).toEqual([]);
    expect(await missingStreams(manager, topology)).toEqual([]);
  });

  test('what somebody deleted is named, and created again', async () => {
    await provision(connection, topology);
    await manager.streams.delete('NATTER_DEAD');
    await manager.consumers.delete(commands, 'partition-2');
    expect(await missingStreams(manager, topology)).toEqual(['NATTER_DEAD']);
    expect((await provision(connection, topology)).created).toEqual(['NATTER_DEAD', `${commands}/partition-2`]);
  });

  const lastWithConsumers = topology.consumers.at(-1)?.stream ?? '';
  test.each([lastWithConsumers, 'NATTER_DEAD'])(
    '%s, which goes missing again while the others are made, is made again',
    async (victim) => {
      const deleted = new Promise<void>((done) => {
        const created = `$JS.EVENT.ADVISORY.STREAM.CREATED.${victim}`;
        connection.subscribe(created, { max: 1, callback: () => void manager.streams.delete(victim).then(() => done()) });
      });
      const { created, drift } = await provision(connection, topology);
      await deleted;
      expect({ created: created.length, drift }).toEqual({
        created: topology.streams.length + topology.consumers.length,
        drift: [],
      });
      expect(await missingStreams(manager, topology)).toEqual([]);
      expect(await missingConsumers(manager, topology, victim)).toEqual([]);
    },
  );

  test('a stream that the broker could not make a store for, as its place was taken, is made in a second attempt', async () => {
    const places = broker.storeDirs.map((folder) => join(folder, 'store', 'jetstream', 'NATTER', 'streams', 'NATTER_DEAD'));
    await Promise.all(places.map((path) => mkdir(dirname(path), { recursive: true }).then(() => writeFile(path, ''))));
    // A server of a cluster may tell of its first attempt, and have the stream taken back, even later than that.
    await vi.waitFor(async () => {
      expect((await provision(connection, topology)).drift).toEqual([]);
      expect(await missingStreams(manager, topology)).toEqual([]);
    });
  });

  test('reports drift by field and changes nothing', async () => {
    await provision(connection, topology);
    await manager.streams.update('NATTER_EVENTS', { max_age: 3_600_000_000_000 });
    await manager.consumers.update(commands, 'partition-1', { max_ack_pending: 5 });
    const expected = [
      { resource: 'NATTER_EVENTS', field: 'max_age', wanted: 'unset', found: '3600000000000' },
      { resource: `${commands}/partition-1`, field: 'max_ack_pending', wanted: '1', found: '5' },
    ];
    expect((await provision(connection, topology, { update: true })).drift).toEqual(expected);
    expect((await provision(connection, topology)).drift).toEqual(expected);
  });

  test("a limit that would discard the oldest is drift, and taken away when asked; one that refuses the newest is the operator's", async () => {
    await provision(connection, topology);
    await manager.streams.update('NATTER_TIMERS', { max_msgs: 10, max_bytes: 100_000 });
    await manager.streams.update('NATTER_EVENTS', { max_msgs_per_subject: 5, max_bytes: 1_000_000 });
    const found = (await provision(connection, topology)).drift.map(({ resource, field }) => `${resource}: ${field}`);
    expect(found.sort()).toEqual(['NATTER_EVENTS: max_msgs_per_subject', 'NATTER_TIMERS: max_bytes', 'NATTER_TIMERS: max_msgs']);
    const { updated, drift } = await provision(connection, topology, { update: true });
    expect({ updated: updated.toSorted(), drift }).toEqual({ updated: ['NATTER_EVENTS', 'NATTER_TIMERS'], drift: [] });
    expect((await manager.streams.info('NATTER_EVENTS')).config).toMatchObject({
      max_msgs_per_subject: -1,
      max_bytes: 1_000_000,
    });
  });

  test('describes every stream, and one that an older version made is not different for that', async () => {
    await provision(connection, topology);
    const described = async () => {
      const found: Record<string, string | undefined> = {};
      for await (const { config } of manager.streams.list()) found[config.name] = config.description;
      return found;
    };
    const all = await described();
    expect(Object.entries(all).filter(([, text]) => !text?.startsWith('Natter: '))).toEqual([]);
    await manager.streams.update('NATTER_EVENTS', { description: '' });
    const older = { ...(await manager.streams.info('NATTER_EVENTS')).config };
    expect(streamDrift(topology.streams.find(({ name }) => name === older.name) as StreamSpec, older)).toEqual([]);
    expect(await provision(connection, topology)).toEqual({ created: [], updated: ['NATTER_EVENTS'], drift: [] });
    expect(await described()).toEqual(all);
  });

  test('I13: a stream that was restored is as wanted, and keeps its incarnation when its settings are updated', async () => {
    await provision(connection, topology);
    const { config } = await manager.streams.info('NATTER_EVENTS');
    await manager.streams.update('NATTER_EVENTS', { metadata: { ...config.metadata, [restoredMark]: '7' }, description: '' });
    expect(await provision(connection, topology)).toEqual({ created: [], updated: ['NATTER_EVENTS'], drift: [] });
    const larger = changed('NATTER_EVENTS', { duplicateWindowMs: 60_000 });
    expect(await provision(connection, larger, { update: true })).toEqual({ created: [], updated: ['NATTER_EVENTS'], drift: [] });
    const found = await manager.streams.info('NATTER_EVENTS');
    expect([found.config.duplicate_window, incarnationOf(found)]).toEqual([60e9, 7]);
  });

  test('updates what is safe to update, only when asked', async () => {
    await provision(connection, topology);
    const larger = changed('NATTER_DEAD', { maxMessageBytes: 900_000, duplicateWindowMs: 60_000 });
    expect((await provision(connection, larger)).drift.map(({ field }) => field)).toEqual(['max_msg_size', 'duplicate_window']);
    expect(await provision(connection, larger, { update: true })).toEqual({ created: [], updated: ['NATTER_DEAD'], drift: [] });
    expect((await provision(connection, larger)).drift).toEqual([]);
  });

  test('F9: dead letters from the time when they had no bounds get them, only when asked; bounds of the operator stay', async () => {
    const streams = topology.streams.map(({ bounds, ...spec }) =>
      spec.name !== 'NATTER_DEAD' && bounds ? { ...spec, bounds } : spec,
    );
    await provision(connection, { ...topology, streams });
    const log = jetstream(connection);
    const { seq } = await log.publish('natter.dead.router', 'of the old version');
    const fields = (await provision(connection, topology)).drift.map(({ field }) => field);
    expect(fields.sort()).toEqual(['discard', 'max_age', 'max_bytes', 'max_msgs_per_subject']);
    expect(await provision(connection, topology, { update: true })).toEqual({ created: [], updated: ['NATTER_DEAD'], drift: [] });
    expect((await manager.streams.getMessage('NATTER_DEAD', { seq }))?.string()).toBe('of the old version');
    await manager.streams.update('NATTER_DEAD', { max_bytes: 5_000_000, max_msgs_per_subject: 100 });
    const { updated, drift } = await provision(connection, topology, { update: true });
    expect([updated, drift.map(({ field }) => field).sort()]).toEqual([[], ['max_bytes', 'max_msgs_per_subject']]);
  });

  test('streams from the time when nothing was written in groups allow it once that is asked for, and keep what they have (ADR 23)', async () => {
    const streams = topology.streams.map((spec) => ({ ...spec, batches: false }));
    await provision(connection, { ...topology, streams });
    const { seq } = await jetstream(connection).publish('natter.event.user_message.agent.main', 'of the old version');
    const { drift } = await provision(connection, topology);
    const grouped = ['NATTER_INBOUND', commands, 'NATTER_EVENTS', 'OBJ_natter_attachments'];
    expect(drift.map(({ resource, field }) => [resource, field])).toEqual(grouped.map((name) => [name, 'allow_atomic']));
    expect(await provision(connection, topology, { update: true })).toEqual({ created: [], updated: grouped, drift: [] });
    expect((await manager.streams.getMessage('NATTER_EVENTS', { seq }))?.string()).toBe('of the old version');
  });

  test('ADR 25: replicated streams from the time before the anchors get a place for them, only when asked; a foreign subject is drift', async () => {
    if (replicas === 1) return;
    const streams = topology.streams.map((spec) => {
      const { anchor, ...old } = spec;
      const newest = spec.newestPerSubject && { newestPerSubject: 1 };
      return { ...old, ...newest, subjects: spec.subjects.filter((subject) => subject !== anchor) };
    });
    await provision(connection, { ...topology, streams });
    const named = (drift: readonly { resource: string; field: string }[]) =>
      drift.map(({ resource, field }) => `${resource} ${field}`);
    const queues = ['NATTER_INBOUND', commands, 'NATTER_CHECKPOINTS', 'NATTER_TIMERS'];
    const buckets = topology.streams.map(({ name }) => name).filter((name) => name.startsWith('KV_'));
    expect(named((await provision(connection, topology)).drift)).toEqual([
      ...queues.map((name) => `${name} subjects`),
      'NATTER_PROBE max_msgs_per_subject',
      ...buckets.map((name) => `${name} subjects`),
    ]);
    const updated = [...queues, 'NATTER_PROBE', ...buckets];
    expect(await provision(connection, topology, { update: true })).toEqual({ created: [], updated, drift: [] });
    const foreign = [...(topology.streams.find(({ name }) => name === commands)?.subjects ?? []), 'elsewhere'];
    await manager.streams.update(commands, { subjects: foreign });
    expect(named((await provision(connection, topology, { update: true })).drift)).toEqual([`${commands} subjects`]);
  });

  test('a consumer of a partition that is no longer there is reported', async () => {
    await provision(connection, topology);
    const fewer = { ...topology, consumers: topology.consumers.filter(({ name }) => name !== 'partition-3') };
    const report = await provision(connection, fewer);
    expect(report.drift.map(({ resource, wanted }) => `${resource}: ${wanted}`)).toEqual([
      'NATTER_INBOUND/partition-3: no such consumer',
      `${commands}/partition-3: no such consumer`,
      'NATTER_CHECKPOINTS/partition-3: no such consumer',
    ]);
  });

  test('queues from the time when they had timers are left alone, and it is said that they have to be recreated', async () => {
    const queues = {
      NATTER_INBOUND: ['natter.inbound.*.*', 'natter.inbound-timer.*.*'],
      [commands]: ['natter.command.*', 'natter.timer.*.*'],
    };
    const withTimers = { retention: 'workqueue', discard: 'old', allow_msg_schedules: true, allow_msg_ttl: true } as const;
    for (const [name, of] of Object.entries(queues))
      await manager.streams.add({ ...withTimers, name, subjects: of, num_replicas: replicas });
    const { drift, updated } = await provision(connection, topology, { update: true });
    expect(updated).toEqual([]);
    const lasting = drift.filter(({ field }) => field.startsWith('allow_msg'));
    expect(lasting.map(({ resource, field }) => `${resource} ${field}`).sort()).toEqual(
      Object.keys(queues)
        .flatMap((name) => [`${name} allow_msg_schedules`, `${name} allow_msg_ttl`])
        .sort(),
    );
    expect(lasting.map(({ wanted }) => wanted).join()).toContain('recreated');
    expect(await missingStreams(manager, topology)).toEqual([]);
  });

  test('a command stream from the time when an acknowledgement removed its commands is left alone, and it is said that it has to be recreated', async () => {
    const subject_transform = { src: 'natter.command.*', dest: `natter.command.{{partition(${partitions},1)}}.{{wildcard(1)}}` };
    const queue = { retention: 'workqueue', discard: 'new', subject_transform } as const;
    await manager.streams.add({ ...queue, name: commands, subjects: ['natter.command.*'], num_replicas: replicas });
    const { drift, updated } = await provision(connection, topology, { update: true });
    expect(updated).toEqual([]);
    expect(drift.find(({ field }) => field === 'retention')).toMatchObject({
      ...{ resource: commands, found: '"workqueue"', wanted: expect.stringMatching(/^"limits" .*recreated/) },
    });
  });

  test('sequences of a command stream that was made anew are greater than all it had before (ADR 9)', async () => {
    await provision(connection, topology);
    const bus = jetstream(connection);
    const { seq: before } = await bus.publish('natter.command.agent:main', 'one');
    await manager.streams.delete(commands);
    await provision(connection, topology);
    expect((await bus.publish('natter.command.agent:main', 'one')).seq).toBeGreaterThan(before);
    expect(before).toBeLessThan(Number.MAX_SAFE_INTEGER);
  });

  describe('the broker that comes out', () => {
    beforeEach(async () => {
      await provision(connection, topology);
    });

    test('keeps the log: nothing deletes a key by header; single messages can be overwritten by who has the right (ADR 8)', async () => {
      const log = jetstream(connection);
      await log.publish('natter.event.user_message.agent.main', 'one');
      await expect(log.publish('natter.event.user_message.agent.main', 'x', { ttl: '1s' })).rejects.toThrow(/ttl/i);
      const { config } = await manager.streams.info('NATTER_EVENTS');
      expect(config).toMatchObject({
        discard: 'new',
        max_age: 0,
        deny_delete: false,
        deny_purge: false,
        allow_rollup_hdrs: false,
      });
    });

    test('F9: refuses the newest where it is full and drops nothing, but for the audit trail and the dead letters; nothing else has a limit', async () => {
      for await (const { config } of manager.streams.list()) {
        const drops = ['NATTER_AUDIT', 'NATTER_DEAD'].includes(config.name);
        // The broker wants "old" for schedules. Without a limit nothing is dropped.
        const discard = drops || config.allow_msg_schedules ? 'old' : 'new';
        expect([config.name, config.discard, config.max_msgs]).toEqual([config.name, discard, -1]);
        if (!drops) expect([config.name, config.max_bytes, config.max_age]).toEqual([config.name, -1, 0]);
      }
    });

    test('I11: bounds the audit trail and the dead letters, and those alone, in age and size: a flood of one kind pushes out nothing but itself', async () => {
      for await (const { config } of manager.streams.list()) {
        const isBounded = ['NATTER_AUDIT', 'NATTER_DEAD'].includes(config.name);
        expect([config.name, config.max_age > 0, config.max_bytes > 0]).toEqual([config.name, isBounded, isBounded]);
      }
      // As docs/operate/operations.md and access.md say: 90 and 400 days.
      const day = 86_400 * 1e9;
      const boundsOf = async (name: string) => (await manager.streams.info(name)).config;
      expect(await boundsOf('NATTER_DEAD')).toMatchObject({
        max_age: 90 * day,
        max_bytes: 256 * 1024 ** 2,
        max_msgs_per_subject: 500,
      });
      expect(await boundsOf('NATTER_AUDIT')).toMatchObject({
        max_age: 400 * day,
        max_bytes: 256 * 1024 ** 2,
        max_msgs_per_subject: 50_000,
      });
      await manager.streams.delete('NATTER_AUDIT');
      const bounds = { maxAgeMs: 600_000, maxBytes: 1_000_000, maxMessagesPerSubject: 3 };
      await provision(connection, changed('NATTER_AUDIT', { bounds }));
      const log = jetstream(connection);
      await log.publish('natter.audit.token_created', 'one');
      for (let count = 1; count <= 9; count++) await log.publish('natter.audit.authentication_failed', String(count));
      const { state } = await manager.streams.info('NATTER_AUDIT', { subjects_filter: '>' });
      expect(state.subjects).toEqual({ 'natter.audit.token_created': 1, 'natter.audit.authentication_failed': 3 });
    });

    test("reads a key's newest commit under any headline from the leader", async () => {
      const log = jetstream(connection);
      for (const [subject, text] of [
        ['natter.event.user_message.agent.main', 'one'],
        ['natter.event.session_reset.agent.main', 'two'],
        ['natter.event.user_message.agent.main.sub', 'three'],
      ] as const)
        await log.publish(subject, text);
      const last = await manager.streams.getMessage('NATTER_EVENTS', { last_by_subj: 'natter.event.*.agent.main' });
      expect([last?.seq, last?.string()]).toEqual([2, 'two']);
    });

    test('stores a command under its partition', async () => {
      await jetstream(connection).publish('natter.command.agent:main', 'now');
      const stored = await manager.streams.getMessage(commands, { last_by_subj: 'natter.command.*.agent:main' });
      expect(stored?.subject).toMatch(/^natter\.command\.[0-3]\.agent:main$/);
    });

    test('shows a timer to the members of its queue when it is due; the queues themselves have no timers', async () => {
      const bus = jetstream(connection, { timeout: 5_000 });
      await bus.publish('natter.timer.commands.agent:main.wake', 'later', {
        schedule: { specification: new Date(Date.now() - 1_000), target: 'natter.due.commands' },
      });
      const due = await (await bus.consumers.get('NATTER_TIMERS', 'commands')).next({ expires: 5_000 });
      expect([due?.subject, due?.string()]).toEqual(['natter.due.commands', 'later']);
      for (const queue of [commands, 'NATTER_INBOUND']) {
        const { config } = await manager.streams.info(queue);
        expect([config.discard, config.allow_msg_schedules ?? false, config.allow_msg_ttl]).toEqual(['new', false, false]);
      }
    });

    test('a replicated queue keeps anchors that nobody is given and nobody counts; on one server there are none (ADR 25)', async () => {
      const subjects = subjectsUnder('natter');
      const deadLetters = createInMemoryDeadLetters({ clock: systemClock });
      const settings = { connection, subjects, topology, deadLetters, clock: systemClock, requestTimeoutMs: 5_000 };
      const queue = commandQueue(settings);
      const anchorsIn = async (stream: string): Promise<number> => {
        const { state } = await manager.streams.info(stream, { subjects_filter: 'natter.anchor.>' });
        return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
      };
      const expected = replicas > 1 ? 1 : 0;
      const keys = ['agent:main:a', 'agent:main:b', 'agent:main:c'];
      for (const key of keys) await queue.publish(commandTo(key));
      await queue.schedule('wake', Date.now() + 3_600_000, commandTo('agent:main:a'));
      await vi.waitFor(async () =>
        expect([await anchorsIn(commands), await anchorsIn('NATTER_TIMERS')]).toEqual([expected, expected]),
      );
      // A consumer may hear of a message a moment after it was stored.
      await vi.waitFor(async () => expect(await queue.lag()).toBe(keys.length));
      const handled: string[] = [];
      const consumption = await queue.consume({
        member: 'one',
        handle: async ({ message }) => {
          handled.push(message.key);
          return { kind: 'recorded' };
        },
      });
      await vi.waitFor(() => expect(handled.toSorted()).toEqual(keys));
      await vi.waitFor(async () => expect((await manager.streams.info(commands)).state.messages).toBe(await anchorsIn(commands)));
      expect([await queue.lag(), await deadLetters.count()]).toEqual([0, 0]);
      await consumption.close();
      expect((await provision(connection, topology)).drift).toEqual([]);
    });

    test('a replicated bucket keeps anchors beside its keys, and the probe its newest; one server needs neither (ADR 25)', async () => {
      const anchor = topology.streams.find(({ name }) => name === 'KV_natter_index')?.anchor;
      const index = await openKvStore({ connection, bucket: 'natter_index', anchor, requestTimeoutMs: 5_000 });
      for (const value of ['one', 'two']) await index.put('session.a', new TextEncoder().encode(value), {});
      const subjects = async (stream: string): Promise<Record<string, number>> =>
        (await manager.streams.info(stream, { subjects_filter: '>' })).state.subjects ?? {};
      const expected = replicas > 1 ? [expect.stringMatching(/^natter\.anchor\.index\.\d+$/)] : [];
      await vi.waitFor(async () =>
        expect(Object.keys(await subjects('KV_natter_index')).sort()).toEqual(['$KV.natter_index.session.a', ...expected]),
      );
      const view = await new Kvm(connection).open('natter_index');
      const keys: string[] = [];
      for await (const key of await view.keys()) keys.push(key);
      expect(keys, 'no client of the bucket meets them').toEqual(['session.a']);
      expect((await index.changes('session', 0, 10)).entries.map(({ key }) => key)).toEqual(['session.a']);
      for (const probe of ['one', 'two', 'three']) await jetstream(connection).publish('natter.probe', probe);
      expect(await subjects('NATTER_PROBE')).toEqual({ 'natter.probe': replicas > 1 ? 3 : 1 });
    });

    test('more anchors than are needed are removed, the oldest, and nothing else', async () => {
      if (replicas === 1) return;
      const bus = jetstream(connection, { timeout: 5_000 });
      const { seq: waiting } = await bus.publish('natter.command.agent:main', 'waits');
      const sent = await Promise.all([...Array(2 * anchorsKept + 1)].map(() => bus.publish('natter.anchor.commands', '')));
      const inbox = new ReplyInbox(connection);
      const stream = { stream: commands, subject: 'natter.anchor.commands', requestTimeoutMs: 5_000 };
      const anchors = new Anchors({ inbox, manager: Promise.resolve(manager), ...stream });
      expect(await anchors.others()).toBe(1);
      await anchors.trim();
      const { state } = await manager.streams.info(commands, { subjects_filter: '>' });
      expect([state.messages, state.subjects?.['natter.anchor.commands']]).toEqual([anchorsKept + 1, anchorsKept]);
      expect(state.first_seq).toBe(waiting);
      expect(await manager.streams.getMessage(commands, { last_by_subj: 'natter.anchor.commands' })).toMatchObject({
        seq: Math.max(...sent.map(({ seq }) => seq)),
      });
    });

    test('has buckets as the key-value client wants them; a row of the host bucket can expire', async () => {
      const hosts = await new Kvm(connection).open('natter_hosts');
      await hosts.put('a', 'one');
      await hosts.put('a', 'two');
      await hosts.create('b', 'short', '1s');
      expect((await hosts.get('a'))?.string()).toBe('two');
      expect((await hosts.get('b'))?.string()).toBe('short');
      await vi.waitFor(async () => expect((await hosts.get('b'))?.operation ?? 'DEL').not.toBe('PUT'));
      await hosts.delete('a');
    });

    test('after all servers were killed every command that was not acknowledged comes again, in order, perhaps after some that were', async () => {
      const bus = jetstream(connection, { timeout: 5_000 });
      for (let index = 0; index < 20; index++) await bus.publish('natter.command.agent:main', String(index));
      const partition = (
        await manager.streams.getMessage(commands, { last_by_subj: 'natter.command.*.agent:main' })
      )?.subject.split('.')[2];
      const take = async (last: string, acknowledge: number): Promise<string[]> => {
        const consumer = await bus.consumers.get(commands, `partition-${partition}`);
        const messages = await consumer.consume({ group: pinGroup, max_messages: 1, expires: 1_000, idle_heartbeat: 500 });
        const seen: string[] = [];
        for await (const message of messages) {
          seen.push(message.string());
          if (seen.length <= acknowledge) await message.ackAck();
          if (message.string() === last) break;
        }
        await messages.close();
        return seen;
      };
      expect(await take('5', 5)).toEqual(['0', '1', '2', '3', '4', '5']);
      await broker.killAndRestartAll();
      await vi.waitFor(async () => expect((await provision(connection, topology)).created).toEqual([]));
      const again = await take('19', 20);
      expect(again).toEqual([...Array(20).keys()].map(String).slice(-again.length));
      expect(again.length).toBeGreaterThanOrEqual(15);
    });
  });
});
