import { mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startManagedServer } from '../../../services/cli/broker/managed.ts';
import { repairDescription } from '../../../services/cli/broker/store.ts';
import type { ManagedServer } from '../../../services/cli/broker/supervisor.ts';
import { credentialsOf } from '../../../services/cli/broker/users.ts';
import { usersFolder } from '../../../services/cli/installation.ts';
import { provisionBroker, topologyFor, withBroker } from '../../../services/cli/runtime/broker.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { type Config, loadConfig } from '../../../shared/runtime/config/load.ts';
import {
  type BrokerUser,
  brokerUsers,
  grantOf,
  type Resource,
  type ResourceName,
  resourcesOf,
} from '../../../shared/wire/grants.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import type { StreamSpec } from '../../../shared/wire/topology.ts';
import { testBinary } from '../../support/nats.ts';

/** What a power cut leaves of the managed broker's store (F13), made by hand: `npm run chaos -- power-cut` does the real thing. */
let dataDir: string;
let config: Config;
let server: ManagedServer;

const start = async (): Promise<void> => {
  const { path: binary } = await testBinary();
  server = await startManagedServer({ binary, dataDir, syncInterval: 'always', prefix: 'natter', log: () => {} });
};
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'natter-left-out-'));
  await writeFile(join(dataDir, 'natter.json'), '{ nats: { partitions: 1 } }');
  config = loadConfig({ env: { NATTER_DATA_DIR: dataDir }, home: dataDir });
  await start();
});
afterEach(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

const brokerAs = (user: BrokerUser) => ({
  ...{ servers: server.url, warnings: () => server.warnings() },
  ...credentialsOf(usersFolder(dataDir), user),
});
const provision = (sync?: (folder: string) => Promise<void>) => provisionBroker(config, brokerAs('provisioner'), sync);
const streams = (): Promise<Map<string, StreamInfo>> =>
  withBroker(config, brokerAs('operator'), 'test', async (connection) => {
    const found = new Map<string, StreamInfo>();
    const manager = await jetstreamManager(connection, { checkAPI: false });
    for await (const info of manager.streams.list()) found.set(info.config.name, info);
    return found;
  });
const restart = async (meanwhile: () => Promise<void>): Promise<void> => {
  await server.stop();
  await meanwhile();
  await start();
};

const specs = topologyFor(configSchema.parse({})).streams;
const caches = specs.filter(({ cache }) => cache).map(({ name }) => name);
const truths = specs.filter(({ cache }) => !cache).map(({ name }) => name);
const resources = Object.entries(resourcesOf(subjectsUnder('natter'), 'x')) as [ResourceName, Resource][];
/** Puts a message into a stream, as a user who may. */
const fillOne = async ({ name }: StreamSpec): Promise<void> => {
  for (const [resource, { stream, subjects }] of resources)
    for (const user of brokerUsers) {
      if (stream !== name || user === 'connector' || !grantOf(resource, user).includes('w')) continue;
      const subject = subjects[0]?.replaceAll(/[*>]/g, 'x') ?? '';
      return withBroker(config, brokerAs(user), 'test', async (connection) => {
        await jetstream(connection).publish(subject, 'kept');
      });
    }
  throw new Error(`nobody writes to ${name}`);
};
const fill = async (): Promise<void> => {
  for (const spec of specs) await fillOne(spec);
};

const streamFolder = (name: string): string => join(dataDir, 'broker/store/jetstream/NATTER/streams', name);
const both = ['meta.inf', 'meta.sum'];
const each = async (name: string, files: readonly string[], change: (path: string) => Promise<unknown>): Promise<void> => {
  for (const file of files) await change(join(streamFolder(name), file));
};
const zeros = async (path: string): Promise<void> => writeFile(path, Buffer.alloc((await stat(path)).size));
const damages: Readonly<Record<string, (name: string) => Promise<void>>> = {
  'both files empty': (name) => each(name, both, (path) => truncate(path)),
  'both files full of zeros': (name) => each(name, both, zeros),
  'the description empty': (name) => each(name, ['meta.inf'], (path) => truncate(path)),
  'the checksum gone': (name) => each(name, ['meta.sum'], rm),
  'both files gone': (name) => each(name, both, rm),
};

describe.each(Object.entries(damages))('%s', (_, damage) => {
  test('caches are made again by themselves, with what they held, and stay', async () => {
    await provision();
    await fill();
    await restart(async () => {
      for (const name of caches) await damage(name);
    });
    const left = await streams();
    expect(caches.filter((name) => left.has(name))).toEqual([]);
    expect(await provision()).toEqual(expect.arrayContaining(caches));
    await restart(async () => {});
    const after = await streams();
    expect(caches.map((name) => after.get(name)?.state.messages)).toEqual(caches.map(() => 1));
  });

  test('the log is not created anew: it is refused with its folder, what the broker said, and the repair', async () => {
    await provision();
    await fill();
    const before = (await streams()).get('NATTER_EVENTS');
    await restart(() => damage('NATTER_EVENTS'));
    const error = String(await provision().catch((caught: unknown) => caught));
    expect(error).toContain(streamFolder('NATTER_EVENTS'));
    expect(error).toMatch(/nats-server: (Stream metafile .*checksums do not match|Missing stream)/);
    expect(error).toContain('natter nats repair-meta NATTER_EVENTS');
    expect((await streams()).has('NATTER_EVENTS')).toBe(false);

    await restart(() => repairDescription(dataDir, 'NATTER_EVENTS'));
    expect((await streams()).get('NATTER_EVENTS')).toMatchObject({ created: before?.created, state: before?.state });
    await expect(provision()).resolves.not.toContain('NATTER_EVENTS');
  });
});

test('every stream that is no cache is refused, and each can be repaired', async () => {
  await provision();
  await fill();
  await restart(async () => {
    for (const name of truths) await damages['both files empty']?.(name);
  });
  const error = String(await provision().catch((caught: unknown) => caught));
  expect(truths.filter((name) => !error.includes(`natter nats repair-meta ${name} `))).toEqual([]);
  await restart(async () => {
    for (const name of truths) await repairDescription(dataDir, name);
  });
  const after = await streams();
  expect(truths.filter((name) => (after.get(name)?.state.messages ?? 0) < 1)).toEqual([]);
});

test('streams that never held a message are made again by themselves: the power went before anybody could use them', async () => {
  await provision();
  await restart(async () => {
    await rm(join(dataDir, 'broker/descriptions'), { recursive: true });
    for (const { name } of specs) await damages['both files empty']?.(name);
  });
  expect(await provision()).toEqual(expect.arrayContaining(specs.map(({ name }) => name)));
});

test('provisioning is done only when the store is on the disk, after the last change to it', async () => {
  let release = () => {};
  const sync = vi.fn(() => new Promise<void>((resolve) => (release = resolve)));
  let done = false;
  const provisioning = provision(sync).then(() => (done = true));
  await vi.waitFor(() => expect(sync).toHaveBeenCalledWith(join(dataDir, 'broker')));
  expect([...(await streams()).keys()].toSorted()).toEqual(specs.map(({ name }) => name).toSorted());
  expect(await readdir(join(dataDir, 'broker/descriptions'))).toHaveLength(truths.length);
  expect(done).toBe(false);
  release();
  await provisioning;
});

describe('a repair', () => {
  test('is refused while the broker runs, without a kept description, and where nothing is wrong', async () => {
    await provision();
    await expect(repairDescription(dataDir, 'NATTER_EVENTS')).rejects.toThrow('in use by process');
    await restart(async () => {
      await expect(repairDescription(dataDir, 'NATTER_EVENTS')).rejects.toThrow('is in order');
      await expect(repairDescription(dataDir, 'NATTER_LETTERS')).rejects.toThrow('there is no stream NATTER_LETTERS');
      await expect(repairDescription(dataDir, 'KV_natter_index')).rejects.toThrow('no description of KV_natter_index was kept');
    });
  });
});
