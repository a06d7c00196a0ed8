import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { pino } from 'pino';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { memoryCommand } from '../../../services/cli/commands/approvals-and-memory/memory.ts';
import { doctorCommand } from '../../../services/cli/commands/operate/doctor.ts';
import { eraseCommand } from '../../../services/cli/commands/sessions/erase.ts';
import { natsCommand } from '../../../services/cli/commands/setup/nats.ts';
import { installationIn } from '../../../services/cli/installation.ts';
import { startSystem } from '../../../services/cli/runtime/system.ts';
import type { World } from '../../../services/cli/terminal.ts';
import { closeConnection, openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { testBinary } from '../../support/nats.ts';
import { natterWith } from '../../support/natter.ts';

/** What an operator is told when something is wrong: what, where, and what to do. */
const commands = [doctorCommand, eraseCommand, memoryCommand, natsCommand];
const home = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-trouble-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
const natter = async (env: Record<string, string>, ...words: string[]): Promise<string> =>
  stripVTControlCharacters(await natterWith(commands, { home: home(), env, now: () => Date.now() })(...words));
/** A port that is in use until the test ends, by somebody who says nothing. */
const takenPort = async (): Promise<number> => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  onTestFinished(() => void holder.close());
  return (holder.address() as { port: number }).port;
};
afterEach(() => {
  process.exitCode = undefined;
});

test.each([
  ['nats', 'provision'],
  ['memory', 'rebuild'],
  ['erase', 'agent:main:main', '--yes'],
])('natter %s %s says which broker does not answer and what to do, and not its password', async (...words) => {
  const asked = natter({ NATS_URL: 'nats://ann:planted@127.0.0.1:1' }, ...words);
  await expect(asked).rejects.toThrow(/^not connected to the broker.* \(nats:\/\/127\.0\.0\.1:1\); start it.*NATS_URL/);
});

test.each(['garbage.invalid', 'nats://127.0.0.1:1'])('natter doctor with NATS_URL=%s', async (url) => {
  const report = await natter({ NATS_URL: url, NATTER_URL: 'http://127.0.0.1:1' }, 'doctor');
  expect(report).toMatch(/^fail {2}broker +not connected to the broker.* \(.*(garbage|:1).*\)\n +→ start it.*NATS_URL/m);
});

test('natter doctor with a broker that has no JetStream', async () => {
  const ended = createServer().listen(0, '127.0.0.1');
  await once(ended, 'listening');
  const { port } = ended.address() as { port: number };
  ended.close();
  const server = spawn((await testBinary()).path, ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  const NATS_URL = `nats://127.0.0.1:${port}`;
  await vi.waitFor(async () => {
    const connection = await openConnection({ servers: NATS_URL, name: 'test', requestTimeoutMs: 500 });
    const version = connection.info?.version;
    await closeConnection(connection);
    expect(version).toBeDefined();
  });
  const report = await natter({ NATS_URL, NATTER_URL: 'http://127.0.0.1:1' }, 'doctor');
  expect(report).toMatch(/^ok {4}broker[\s\S]*^fail {2}jetstream +not enabled.*\n +→ start nats-server with -js/m);
});

test.each([
  ['memory', 'rebuild'],
  ['erase', 'agent:main:main', '--yes'],
])('natter %s %s works at a broker: it does not take --url for another system than it would change', async (...words) => {
  await expect(natter({}, ...words, '--url', 'http://natter.example')).rejects.toThrow(/--url.*--data-dir/);
});

test('a data directory that cannot be made is named, with the way to another one', () => {
  const { prepare } = installationIn('/dev/null/natter');
  expect(prepare).toThrow(/^the data directory cannot be made: .*\/dev\/null.*--data-dir or NATTER_DATA_DIR$/);
});

test('a port that is in use is told plainly, before anything is logged; no address of a broker that is gone is left', async () => {
  const folder = home();
  const port = await takenPort();
  const config = loadConfig({ env: { NATTER_PORT: String(port), NATTER_DATA_DIR: folder }, home: folder });
  const installation = installationIn(folder);
  installation.prepare();
  const world = {
    env: process.env,
    home: folder,
    terminal: { interactive: false },
    output: new PassThrough(),
    program: 'natter',
    version: '1',
  } as unknown as World;
  const given = { world, config: fixed(config), installation, token: 'a-token-for-tests', clock: systemClock, hosts: 1 };
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => logged.push(line) });
  const starting = startSystem({ ...given, log, childArguments: [], logFile: 2 });
  const taken = `port ${port} of 127.0.0.1 is in use by another program; `;
  await expect(starting).rejects.toThrow(`${taken}start with natter up --port 0 for a free one, or set gateway.port`);
  expect(logged).toEqual([]);
  expect(existsSync(installation.paths.broker)).toBe(false);
}, 90_000);
