import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFile, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { checkBackup } from '../../../services/cli/backup/check-backup.ts';
import { compareWithBackup } from '../../../services/cli/backup/compare.ts';
import { finishRestore, restoreStreams } from '../../../services/cli/backup/restore.ts';
import { makeFromSnapshot, takeSnapshot } from '../../../services/cli/backup/snapshot.ts';
import { provisionBroker, topologyFor, withBroker } from '../../../services/cli/runtime/broker.ts';
import { brokerReport } from '../../../services/cli/runtime/broker-report.ts';
import { restoredMark } from '../../../shared/adapters/nats/stream-config.ts';
import { digestOf } from '../../support/files.ts';
import type { TestServer } from '../../support/nats.ts';
import {
  answersIn,
  backUpTo,
  broker,
  command,
  configAt,
  envelope,
  freshFolder,
  keyOf,
  provisioned,
  restoreFrom,
  running,
  until,
} from './rig.ts';

/** A backup with an answered message of each person, and its broker. */
const backedUp = async (...people: string[]): Promise<{ dir: string; old: TestServer }> => {
  const old = await provisioned();
  const services = await running(old);
  for (const person of people) await services.ports.inbound.publish(envelope(person, `${person} was here`));
  await until(() => expect(services.sent).toHaveLength(people.length));
  await services.stop();
  const dir = await freshFolder();
  await backUpTo(dir, old.url);
  return { dir, old };
};
const messagesOn = (server: TestServer): Promise<number> =>
  withBroker(configAt(server.url), { servers: server.url }, 'test', async (connection) => {
    let messages = 0;
    for await (const { state } of (await jetstreamManager(connection)).streams.list()) messages += state.messages;
    return messages;
  });

test('a file that is torn, changed, swapped or of an older backup is refused by its name, before anything is written', async () => {
  const { dir } = await backedUp('ann', 'bob');
  const file = join(dir, 'NATTER_EVENTS.nats');
  const whole = await readFile(file);
  const { dir: older } = await backedUp('ann');
  const server = await broker();
  const refused = async (problem: RegExp): Promise<void> => {
    await expect(restoreFrom(dir, server.url)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(problem),
    });
    await writeFile(file, whole);
  };
  await truncate(file, whole.length - 1);
  await refused(/NATTER_EVENTS\.nats.*bytes/);
  const changed = Buffer.from(whole);
  changed[200] = (changed[200] ?? 0) ^ 1;
  await writeFile(file, changed);
  await refused(/NATTER_EVENTS\.nats.*checksum/);
  await copyFile(join(dir, 'NATTER_DELIVERIES.nats'), file);
  await refused(/NATTER_EVENTS\.nats/);
  await copyFile(join(older, 'NATTER_EVENTS.nats'), file);
  await refused(/NATTER_EVENTS\.nats/);
  await rm(file);
  await refused(/NATTER_EVENTS\.nats/);
  expect(await messagesOn(server)).toBe(0);
  await restoreFrom(dir, server.url);
});

test('a folder without a manifest, with a changed one, or of another format or prefix is no backup of this system', async () => {
  const { dir } = await backedUp('ann');
  const path = join(dir, 'manifest.json');
  const text = await readFile(path, 'utf8');
  const server = await broker();
  const refused = (message: RegExp, code = 'invalid') =>
    expect(restoreFrom(dir, server.url)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  await writeFile(path, text.replace('"partitions": 4', '"partitions": 5'));
  await refused(/another checksum/);
  await writeFile(path, text.slice(0, 100));
  await refused(/not JSON/);
  await writeFile(path, text.replace('"format": 1', '"format": 2'));
  await refused(/format 2/, 'unsupported');
  await rename(path, `${path}.draft`);
  await refused(/no manifest\.json/);
  await writeFile(path, text);
  const config = { ...configAt(server.url), prefix: 'other' };
  const backup = await checkBackup(dir, config);
  await expect(
    withBroker(config, { servers: server.url }, 'test', (connection) =>
      restoreStreams({ connection, config, topology: topologyFor(config), folder: dir, backup, progress: () => {} }),
    ),
  ).rejects.toMatchObject({ code: 'invalid', field: 'prefix' });
  await expect(backUpTo(dir, server.url)).rejects.toThrow('is not empty');
  await expect(backUpTo(fileURLToPath(import.meta.url), server.url)).rejects.toThrow(/cannot be made: .*name a new folder/);
});

test('a broker that holds messages, or that Natter runs on, is refused and stays as it is', async () => {
  const { dir, old } = await backedUp('ann');
  const messages = await messagesOn(old);
  await expect(restoreFrom(dir, old.url)).rejects.toThrow('restore into an empty broker');
  expect(await messagesOn(old)).toBe(messages);
  const server = await provisioned();
  const { ports } = await running(server, []);
  const report = { v: 1, process: 'up-1', version: '0', startedAt: 1, at: 1, services: [] } as const;
  await ports.presence.tell(report);
  await expect(restoreFrom(dir, server.url)).rejects.toThrow('up-1 is running');
  await ports.presence.leave('up-1');
  await restoreFrom(dir, server.url);
});

test.each(['while it makes the streams', 'while it takes their marks off'])(
  'nothing starts on a broker whose restore was killed %s; the same restore can be run again',
  async (moment) => {
    const { dir } = await backedUp('ann');
    const server = await broker();
    const config = configAt(server.url);
    const [address, topology] = [{ servers: server.url }, topologyFor(config)];
    const backup = await checkBackup(dir, config);
    const killed = withBroker(config, address, 'test', async (connection) => {
      await restoreStreams({
        ...{ connection, config, topology, folder: dir, backup },
        progress: (stream) => {
          if (moment === 'while it makes the streams' && stream === 'NATTER_DELIVERIES') throw new Error('killed');
        },
      });
      const half = { ...topology, streams: topology.streams.slice(0, topology.streams.length / 2) };
      await finishRestore({ connection, config, topology: half });
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    await expect(provisionBroker(config, address)).rejects.toThrow('natter restore');
    await restoreFrom(dir, server.url);
    await provisionBroker(config, address);
    const after = await running(server);
    await until(() => expect(after.problems()).toEqual([]));
    expect(await answersIn(after, ['ann'])).toEqual(new Map([['You said: ann was here', 1]]));
  },
);

test('a restore lifts the witnesses: with those of the old log nothing becomes ready', async () => {
  const { dir, old } = await backedUp('ann');
  const witness = 'KV_natter_witness';
  const pieces: Uint8Array[] = [];
  const kept = await withBroker(configAt(old.url), { servers: old.url }, 'test', (connection) =>
    takeSnapshot(connection, witness, async (piece) => void pieces.push(piece)),
  );
  const server = await broker();
  await restoreFrom(dir, server.url);
  const good = await running(server);
  await until(() => expect(good.problems()).toEqual([]));
  // The end of the log has moved on by millions of sequences, which is no work for anybody.
  await until(async () => {
    const { cursors } = await brokerReport(configAt(server.url), server.as);
    expect(cursors).toMatchObject([{ behind: 0 }, { name: 'index', behind: 0 }]);
  });
  await good.stop();

  await withBroker(configAt(server.url), { servers: server.url }, 'test', async (connection) => {
    await (await jetstreamManager(connection)).streams.delete(witness);
    async function* again(): AsyncGenerator<Uint8Array> {
      yield* pieces;
    }
    await makeFromSnapshot(connection, { config: kept.config, state: kept.state }, again());
  });
  const bad = await running(server);
  await until(() => expect(JSON.stringify(bad.problems())).toContain('recreated'));
});

test('a restored system has a life of its own, again when it is backed up and restored; without its mark, as an older version left it, that is the way out', async () => {
  const { dir } = await backedUp('ann');
  const first = await broker();
  await restoreFrom(dir, first.url);
  const once = await running(first);
  await once.ports.inbound.publish(envelope('bob', 'bob was here'));
  await until(async () => expect((await answersIn(once, ['ann', 'bob'])).size).toBe(2));
  const { incarnation, lastSeq } = await once.ports.events.info();
  await once.stop();

  await withBroker(configAt(first.url), { servers: first.url }, 'test', async (connection) => {
    const { streams } = await jetstreamManager(connection);
    const { config } = await streams.info('NATTER_EVENTS');
    const { [restoredMark]: mark, ...metadata } = config.metadata ?? {};
    expect(mark).toBe(`${incarnation}`);
    await streams.update('NATTER_EVENTS', { ...config, metadata });
  });
  const unmarked = await running(first);
  await until(() => expect(JSON.stringify(unmarked.problems())).toContain('recreated'));
  await unmarked.stop();

  const again = await freshFolder();
  await backUpTo(again, first.url);
  const second = await broker();
  await restoreFrom(again, second.url);
  const twice = await running(second);
  await until(() => expect(twice.problems()).toEqual([]));
  const now = await twice.ports.events.info();
  expect(now.incarnation).toBeGreaterThan(incarnation);
  expect(now.lastSeq).toBeGreaterThan(lastSeq);
  await twice.ports.inbound.publish(envelope('carl', 'carl was here'));
  await until(async () => {
    const all = ['ann', 'bob', 'carl'].map((person) => [`You said: ${person} was here`, 1] as const);
    expect(await answersIn(twice, ['ann', 'bob', 'carl'])).toEqual(new Map(all));
  });
}, 120_000);

test('what is missing or changed on the broker is found by comparing it with the backup; what is new is not', async () => {
  const { dir } = await backedUp('ann', 'bob');
  const server = await broker();
  await restoreFrom(dir, server.url);
  const config = configAt(server.url);
  const { manifest } = await checkBackup(dir, config);
  const problems = (): Promise<readonly string[]> =>
    withBroker(config, { servers: server.url }, 'test', async (connection) => {
      return (await compareWithBackup(connection, config, dir, manifest)).problems;
    });
  expect(await problems()).toEqual([]);
  const services = await running(server);
  await services.ports.inbound.publish(envelope('ann', 'something new'));
  await until(async () => expect((await answersIn(services, ['ann'])).size).toBe(2));
  expect(await problems()).toEqual([]);
  await withBroker(config, { servers: server.url }, 'test', async (connection) => {
    await (await jetstreamManager(connection)).streams.deleteMessage('NATTER_EVENTS', 1);
  });
  expect((await problems()).join()).toMatch(/commit 1 of agent:main:hook:(ann|bob) is not in the log/);
});

test('what was erased after the backup is erased again: its text is nowhere in the store', async () => {
  const canary = `canary-${randomUUID()}`;
  const old = await provisioned();
  const services = await running(old);
  await services.ports.inbound.publish(envelope('ann', canary));
  await services.ports.inbound.publish(envelope('bob', 'hello'));
  await until(() => expect(services.sent).toHaveLength(2));
  // The message of carl's file never came.
  const fileOf = (person: string): Buffer => Buffer.from(`${person === 'bob' ? 'bob' : canary} `.repeat(10_000));
  for (const person of ['ann', 'bob', 'carl']) await services.ports.attachments.put(keyOf(person), fileOf(person));
  await services.stop();
  // Waits in its queue during the backup.
  const waiting = await running(old, []);
  await waiting.ports.commands.publish(command('ann', `waiting ${canary}`));
  const dir = await freshFolder();
  await backUpTo(dir, old.url);
  const erasedAt = Date.now();

  const restored = async (...people: string[]): Promise<TestServer> => {
    const server = await broker();
    const erasures = people.map((person) => ({ key: keyOf(person), at: erasedAt }));
    const { erased } = await restoreFrom(dir, server.url, erasures);
    expect(erased).toBe(people.includes('ann') ? 1 : 0);
    return server;
  };
  const filesWith = async (server: TestServer): Promise<string> => {
    await server.restart();
    const found = await promisify(execFile)('grep', ['-rla', canary, server.storeDir]).catch(() => ({ stdout: '' }));
    return found.stdout;
  };
  const server = await restored('ann', 'carl');
  expect(await filesWith(server)).toBe('');
  const after = await running(server);
  await until(async () => expect(await after.ports.commands.lag()).toBe(0));
  expect(await answersIn(after, ['ann', 'bob'])).toEqual(new Map([['You said: hello', 1]]));
  const file = fileOf('bob');
  expect(await after.ports.attachments.get(keyOf('bob'), digestOf(file))).toEqual(file);
  const { records } = await after.ports.audit.page({ limit: 1, kind: 'session_erased' });
  expect(records).toMatchObject([{ target: keyOf('ann'), actor: 'operator:olga' }]);

  expect(await filesWith(await restored())).not.toBe('');
}, 90_000);
