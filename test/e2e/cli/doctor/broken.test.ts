import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { doctorCommand } from '../../../../services/cli/commands/operate/doctor.ts';
import type { Finding } from '../../../../shared/runtime/doctor/finding.ts';
import { partitionConsumer } from '../../../../shared/wire/topology.ts';
import { startServer, type TestServer } from '../../../support/nats.ts';
import { natterWith } from '../../../support/natter.ts';
import { provisionFor } from '../../../support/system.ts';
import { mountDisk } from '../../broker/small-disk.ts';

/** `natter doctor` at a broker on which something is broken: it names the fault and the repair, and goes on with what it can check. */

const home = mkdtempSync(join(tmpdir(), 'natter-broken-'));
const disk = mountDisk(640 * 1024 ** 2);
let server: TestServer;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  server = await startServer();
  await provisionFor(server, { partitions: 64 });
  connection = await connect({ servers: server.url, maxReconnectAttempts: -1 });
  manager = await jetstreamManager(connection, { checkAPI: false });
}, 90_000);
afterAll(async () => {
  await connection.close();
  await server.stop();
  disk?.remove();
  rmSync(home, { recursive: true, force: true });
});
afterEach(() => {
  process.exitCode = undefined;
});

const examined = async (at = server): Promise<Record<string, Finding>> => {
  const env = { NATS_URL: at.url, NATS_USERS_DIR: at.usersDir, NATTER_URL: 'http://127.0.0.1:1', NATTER_DATA_DIR: home };
  const natter = natterWith([doctorCommand], { home, env, now: () => Date.now() });
  const { ok, findings } = JSON.parse(stripVTControlCharacters(await natter('doctor', '--json')));
  expect([ok, process.exitCode]).toEqual([false, 1]);
  const found = findings as Finding[];
  for (const { detail, fix = '' } of found) expect(`${detail} ${fix}`).not.toMatch(/\n? +at .*\.ts|undefined|\[object/);
  return Object.fromEntries(found.map((finding) => [finding.what, finding]));
};
/** The stream is there again as it was, and empty. */
const againAs = async (name: string): Promise<void> => {
  await manager.streams.delete(name);
  await provisionFor(server, { partitions: 64 });
};

const named = (detail: RegExp, fix: RegExp) => ({
  ...{ level: 'fail', detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) },
});

test.each(['NATTER_EVENTS', 'KV_natter_index', 'KV_natter_snapshots'])(
  'without %s',
  async (name) => {
    await manager.streams.delete(name);
    const { streams, broker } = await examined();
    expect(broker?.level).toBe('ok');
    expect(streams).toMatchObject(named(new RegExp(`^missing: .*${name}`), /run: natter nats provision/));
    await provisionFor(server, { partitions: 64 });
  },
  60_000,
);

test('a stream that takes other subjects', async () => {
  const { config } = await manager.streams.info('NATTER_DEAD');
  await manager.streams.update('NATTER_DEAD', { ...config, subjects: ['somewhere.else'] });
  const { streams, store } = await examined();
  expect(streams).toMatchObject(named(/NATTER_DEAD: subjects is \["somewhere\.else"\], not /, /natter nats provision/));
  expect(store).toBeDefined();
  await againAs('NATTER_DEAD');
}, 60_000);

test('a stream that keeps its messages in another way: it has to be made anew, and that is what is said', async () => {
  const { config } = await manager.streams.info('NATTER_INBOUND');
  await manager.streams.delete('NATTER_INBOUND');
  await manager.streams.add({ ...config, retention: 'limits' });
  const { streams, store } = await examined();
  expect(streams).toMatchObject(
    named(/NATTER_INBOUND: retention is "limits", not "workqueue"/, /create the stream again.*"Older streams"/),
  );
  expect(store).toBeDefined();
  await againAs('NATTER_INBOUND');
}, 60_000);

test('a consumer that somebody deleted', async () => {
  await manager.consumers.delete('NATTER_COMMANDS', partitionConsumer(3));
  const { streams } = await examined();
  expect(streams).toMatchObject(named(/NATTER_COMMANDS\/partition-3/, /find out who removed/));
  expect((await examined()).streams?.level).toBe('ok');
}, 60_000);

test('a stream that is full takes nothing more, and that is what is said', async () => {
  const { config } = await manager.streams.info('NATTER_EVENTS');
  await manager.streams.update('NATTER_EVENTS', { ...config, max_bytes: 1_000 });
  const { streams } = await examined();
  expect(streams).toMatchObject(named(/^full.*NATTER_EVENTS has \d+ of 1000 bytes/, /nats stream edit/));
  await manager.streams.update('NATTER_EVENTS', config);
}, 60_000);

test.skipIf(disk === null)(
  'a disk that is full',
  async () => {
    if (disk === null) return;
    const full = await startServer({ storeDir: join(disk.path, 'broker') });
    onTestFinished(async () => {
      disk.makeRoom();
      await full.stop();
    });
    await provisionFor(full, { partitions: 64 });
    disk.leaveFree();
    const { store } = await examined(full);
    expect(store).toMatchObject(named(/^(storage_full|write_probe_failed): /, /disk|space/));
  },
  60_000,
);
