import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ManagedServer, type ManagedServerOptions, startManagedServer } from '../../../services/cli/broker/managed.ts';
import { connectionProblems, openConnection } from '../../../shared/adapters/nats/connection.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { testBinary } from '../../support/nats.ts';

// Digits first and a quote inside: a token must reach the broker as it is.
const token = '12ab"\\c$d';
let dataDir: string;
let started: ManagedServer[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'natter managed '));
  started = [];
});
afterEach(async () => {
  for (const server of started) await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const start = async (change: Partial<ManagedServerOptions> = {}): Promise<ManagedServer> => {
  const { path: binary } = await testBinary();
  const server = await startManagedServer({ binary, dataDir, syncInterval: 'always', token, log: () => {}, ...change });
  started.push(server);
  return server;
};
const open = (server: ManagedServer, with_ = token) =>
  openConnection({ servers: server.url, token: with_, name: 'test', requestTimeoutMs: 1_000 });

test('after kill -9 the managed broker is back on its port with its data, and clients go on', async () => {
  const exits: string[] = [];
  const server = await start({ onExit: (reason) => exits.push(reason) });
  const connection = await open(server);
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'KEPT', subjects: ['kept'] });
  await jetstream(connection).publish('kept', 'value');
  const pid = server.pid();
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(server.problems().join()).toMatch(/SIGKILL/));
  await vi.waitFor(() => expect(server.problems()).toEqual([]), 5_000);
  await vi.waitFor(() => expect(connectionProblems(connection)).toEqual([]), 5_000);
  expect(exits).toEqual(['signal SIGKILL']);
  expect(server.pid()).not.toBe(pid);
  expect((await manager.streams.getMessage('KEPT', { last_by_subj: 'kept' }))?.string()).toBe('value');
  await connection.close();
});

test('it listens on loopback, wants the token, and shows the token to nobody', async () => {
  const server = await start();
  const refused = await openConnection({ servers: server.url, token: 'wrong', name: 'test', requestTimeoutMs: 300 });
  expect(connectionProblems(refused).join()).toMatch(/authorization/i);
  await refused.close();
  const info = (await open(server).then(async (connection) => ({ ...connection.info, closed: await connection.close() }))) ?? {};
  expect(info).toMatchObject({ host: '127.0.0.1', auth_required: true });
  expect(await readFile(`/proc/${server.pid()}/cmdline`, 'utf8').catch(() => '')).not.toContain('12ab');
  expect((await stat(join(dataDir, 'broker'))).mode & 0o777).toBe(0o700);
});

test('a second system on the same data folder is refused, and told by whom', async () => {
  await start();
  const error = await start().catch((caught: unknown) => caught);
  expect(hasCode(error, 'unavailable')).toBe(true);
  expect(String(error)).toContain(`in use by process ${process.pid}`);
});

test('the lock of a process that is gone is taken over', async () => {
  const first = await start();
  await first.stop();
  const { pid } = spawnSync('true');
  await writeFile(join(dataDir, 'broker', 'lock'), `${pid} 1\n`);
  const second = await start();
  expect(second.problems()).toEqual([]);
});

test('a stop leaves neither process nor lock behind', async () => {
  const server = await start();
  await server.stop();
  expect(() => process.kill(server.pid(), 0)).toThrow();
  expect(await readdir(join(dataDir, 'broker'))).not.toContain('lock');
});

test('a server that cannot start says why, and frees the folder', async () => {
  const error = await start({ syncInterval: 'sometimes' }).catch((caught: unknown) => caught);
  expect(String(error)).toMatch(/sync_interval/);
  await start();
});
