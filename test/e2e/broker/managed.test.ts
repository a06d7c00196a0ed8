import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, nkeys } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startManagedServer } from '../../../services/cli/broker/managed.ts';
import { startServerProcess } from '../../../services/cli/broker/process.ts';
import type { ManagedServer, ManagedServerOptions } from '../../../services/cli/broker/supervisor.ts';
import { credentialsOf } from '../../../services/cli/broker/users.ts';
import { usersFolder } from '../../../services/cli/installation.ts';
import { closeConnection, connectionProblems, openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { openDeadLetters } from '../../../shared/adapters/nats/dead-letters.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import type { DeadLetter } from '../../../shared/ports/dead-letters.ts';
import type { BrokerUser } from '../../../shared/wire/grants.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { testBinary } from '../../support/nats.ts';

const subjects = subjectsUnder('natter');
const topology = topologyOf(subjects, { replicas: 1, partitions: 2 });
const letter: DeadLetter = { id: '1', service: 'router', reason: 'r', subject: 's', at: 1, bytes: Buffer.from('value') };
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
  const server = await startManagedServer({
    binary,
    dataDir,
    syncInterval: 'always',
    prefix: 'natter',
    log: () => {},
    ...change,
  });
  started.push(server);
  return server;
};
const open = ({ url }: Pick<ManagedServer, 'url'>, user: BrokerUser) =>
  openConnection({ servers: url, ...credentialsOf(usersFolder(dataDir), user), name: 'test', requestTimeoutMs: 1_000 });
const lettersOn = (connection: NatsConnection) => openDeadLetters({ connection, subjects, requestTimeoutMs: 1_000 });
const provisioned = async (server: ManagedServer) => {
  const connection = await open(server, 'provisioner');
  const report = await provision(connection, topology);
  await connection.close();
  return report;
};

test('after kill -9 the managed broker is back on its port with its data, and clients go on', async () => {
  const exits: string[] = [];
  const server = await start({ onExit: (reason) => exits.push(reason) });
  await provisioned(server);
  const [connection, reader] = [await open(server, 'router'), await open(server, 'operator')];
  await (await lettersOn(connection)).put(letter);
  const pid = server.pid();
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(server.problems().join()).toMatch(/SIGKILL/));
  await vi.waitFor(() => expect(server.problems()).toEqual([]));
  await vi.waitFor(() => expect([connection, reader].flatMap(connectionProblems)).toEqual([]));
  expect(exits).toEqual(['signal SIGKILL']);
  expect(server.pid()).not.toBe(pid);
  expect(await (await lettersOn(reader)).list(1)).toMatchObject([{ reason: 'r' }]);
  await Promise.all([connection, reader].map(closeConnection));
});

test('what a killed broker says of its indexes looks like a loss: the log says instead that it has recovered; other warnings stay', async () => {
  const texts = [
    'Filestore [NATTER_TIMERS] TTL state is outdated; attempting to recover using linear scan (seq 1 to 1)',
    'Filestore [NATTER_EVENTS] Stream state outdated, last block has additional entries, will rebuild',
    'Recovering stream state from index errored: short buffer',
    'something else',
  ];
  const binary = join(dataDir, 'was-killed');
  const said = texts.map((text) => `echo "[1] 2026/11/28 16:37:52.490000 [WRN] ${text}" >&2\n`).join('');
  const { path } = await testBinary();
  await writeFile(binary, `#!/bin/sh\n${said}exec "${path}" "$@"\n`, { mode: 0o755 });
  const logged: string[] = [];
  const server = await start({ binary, log: (level, message) => level !== 'debug' && logged.push(`${level} ${message}`) });
  expect(logged).toEqual([
    'warn nats-server: something else',
    expect.stringMatching(/^info recovered: the broker had been killed/),
  ]);
  expect(server.warnings()).toEqual(texts);
});

test('the lock names the server before it listens: who finds the lock of a killed system waits for its end', async () => {
  const binary = join(dataDir, 'recovers-its-store');
  await writeFile(binary, '#!/bin/sh\necho "$$ starts" >&2\nexec sleep 60\n', { mode: 0o755 });
  const lines: string[] = [];
  const starting = start({ binary, log: (_, line) => lines.push(line) });
  const failed = expect(starting).rejects.toThrow(/did not start/);
  await vi.waitFor(() => expect(lines.join()).toMatch(/\d+ starts/), { timeout: 30_000 });
  const pid = Number(/(\d+) starts/.exec(lines.join())?.[1]);
  const holders = async () => (await readFile(join(dataDir, 'broker', 'lock'), 'utf8')).split('\n').map(parseFloat);
  await vi.waitFor(async () => expect(await holders()).toEqual([process.pid, pid, Number.NaN]), { timeout: 10_000 });
  process.kill(pid, 'SIGKILL');
  await failed;
});

test('it listens on loopback and takes nobody but its users, whose seeds are nowhere but in their files', async () => {
  const server = await start();
  const nkeySeed = Buffer.from(nkeys.createUser().getSeed()).toString();
  for (const credentials of [{}, { token: 'a-token' }, { nkeySeed }]) {
    const refused = await openConnection({ servers: server.url, ...credentials, name: 'test', requestTimeoutMs: 300 });
    await vi.waitFor(() => expect(connectionProblems(refused).join()).toMatch(/authorization/i));
    await refused.close();
  }
  const info =
    (await open(server, 'reader').then(async (connection) => ({ ...connection.info, closed: await connection.close() }))) ?? {};
  expect(info).toMatchObject({ host: '127.0.0.1', auth_required: true });
  const seeds = await readdir(usersFolder(dataDir));
  expect(seeds).toContain('session.nk');
  const process = (what: string) => readFile(`/proc/${server.pid()}/${what}`, 'utf8').catch(() => '');
  const [environment, commandLine] = [await process('environ'), await process('cmdline')];
  for (const name of seeds) {
    const file = join(usersFolder(dataDir), name);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(environment + commandLine).not.toContain((await readFile(file, 'utf8')).trim());
  }
  for (const folder of [join(dataDir, 'broker'), usersFolder(dataDir)]) expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('a seed stays the same over restarts, and a damaged one is named', async () => {
  const first = await start();
  const file = join(usersFolder(dataDir), 'router.nk');
  const seed = await readFile(file, 'utf8');
  await first.stop();
  const second = await start();
  expect(await readFile(file, 'utf8')).toBe(seed);
  await second.stop();
  await writeFile(file, 'SUnothing');
  expect(String(await start().catch((error: unknown) => error))).toMatch(/router\.nk: not the seed of a broker user/);
  expect(await readdir(join(dataDir, 'broker'))).not.toContain('lock');
});

/** The broker as it was before it had users: one token, and everything in the default account. */
const startWithToken = async (token: string) => {
  const folder = join(dataDir, 'broker');
  await mkdir(folder, { recursive: true });
  const configFile = join(dataDir, 'former.conf');
  const store = 'jetstream { store_dir: $NATTER_BROKER_STORE, sync_interval: $NATTER_BROKER_SYNC }';
  await writeFile(configFile, `host: 127.0.0.1\nauthorization { token: ${JSON.stringify(token)} }\n${store}\n`);
  const { path: binary } = await testBinary();
  return startServerProcess({ binary, folder, configFile, port: 0, syncInterval: 'always', log: () => {} });
};

test('a data folder from before there were users starts under them with its data; its token opens nothing any more', async () => {
  const token = 'the-former-token';
  const former = await startWithToken(token);
  const servers = `nats://127.0.0.1:${former.port}`;
  const before = await openConnection({ servers, token, name: 'test', requestTimeoutMs: 1_000 });
  await provision(before, topology);
  await (await lettersOn(before)).put(letter);
  const { created } = await (await jetstreamManager(before)).streams.info('NATTER_DEAD');
  await before.close();
  former.signal('SIGTERM');
  await former.exited;

  for (let times = 0; times < 2; times++) {
    const server = await start();
    expect(await provisioned(server)).toEqual({ created: [], updated: [], drift: [] });
    const connection = await open(server, 'operator');
    expect(await (await lettersOn(connection)).list(9)).toMatchObject([{ reason: 'r' }]);
    const manager = await jetstreamManager(connection, { checkAPI: false });
    expect((await manager.streams.info('NATTER_DEAD')).created).toBe(created);
    await connection.close();
    const refused = await openConnection({ servers: server.url, token, name: 'test', requestTimeoutMs: 300 });
    await vi.waitFor(() => expect(connectionProblems(refused).join()).toMatch(/authorization/i));
    await refused.close();
    await server.stop();
  }

  const again = await startWithToken(token);
  const connection = await openConnection({
    servers: `nats://127.0.0.1:${again.port}`,
    token,
    name: 'test',
    requestTimeoutMs: 1_000,
  });
  await provision(connection, topology);
  await connection.close();
  again.signal('SIGTERM');
  await again.exited;
  expect(String(await start().catch((error: unknown) => error))).toMatch(
    /an older version of Natter was started here after a newer/,
  );
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
