import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { serverConfigFile, startServerProcess } from '../../../services/cli/broker/process.ts';
import { brokerCommand } from '../../../services/cli/commands/setup/broker.ts';
import { natsCommand } from '../../../services/cli/commands/setup/nats.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { testBinary } from '../../support/nats.ts';
import { natterWith } from '../../support/natter.ts';

/** `natter broker config` and `natter broker check` for a broker of one's own. */
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'natter-broker-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
};
const natterAt = (home: string, env: Readonly<Record<string, string>> = {}) =>
  natterWith([brokerCommand, natsCommand], { home, env });
afterEach(() => {
  process.exitCode = undefined;
});

/** A broker with this account, as somebody would run it. */
const startWith = async (home: string, account: string) => {
  const { path: binary } = await testBinary();
  const configFile = join(home, 'own.conf');
  writeFileSync(configFile, `${readFileSync(serverConfigFile(), 'utf8')}\n${account}`);
  const values = { NATTER_BROKER_STORE: '"/nowhere"', NATTER_BROKER_STORE_BYTES: '1000000', NATTER_BROKER_SYNC: '"always"' };
  const checked = spawnSync(binary, ['-t', '-c', configFile], { env: values, encoding: 'utf8' });
  expect(checked.stderr + checked.stdout).toMatch(/is valid/);
  const server = await startServerProcess({ binary, folder: home, configFile, port: 0, syncInterval: '2m', log: () => {} });
  onTestFinished(async () => {
    server.signal('SIGKILL');
    await server.exited;
  });
  return `nats://127.0.0.1:${server.port}`;
};

test('the configuration is one that nats-server takes; its users may do what they should, as the check says', async () => {
  const home = folder();
  const users = join(home, 'users');
  const natter = natterAt(home, { NATTER_PREFIX: 'acme' });
  const account = await natter('broker', 'config', '--users', users, '--channel', 'irc');
  expect(account).toMatch(/^accounts \{\n {2}NATTER \{[\s\S]*# connector-irc\n[\s\S]*"acme\.inbound\.irc\.\*"/);
  expect(await natter('broker', 'config', '--users', users)).toBe(account);
  for (const name of ['session', 'connector-irc']) {
    const seed = join(users, `${name}.nk`);
    expect(statSync(seed).mode & 0o777).toBe(0o600);
    expect(account).not.toContain(readFileSync(seed, 'utf8').trim());
  }

  const NATS_URL = await startWith(home, account);
  const checking = natterAt(home, { NATTER_PREFIX: 'acme', NATS_URL, NATS_USERS_DIR: users });
  expect(await checking('nats', 'provision')).toMatch(/^created \d+ streams and consumers/);
  const names = [
    'backup',
    'checkpoint',
    'connector-irc',
    'delivery',
    'gateway',
    'operator',
    'provisioner',
    'reader',
    'restorer',
    'router',
    'session',
  ];
  expect(await checking('broker', 'check')).toBe(names.map((name) => `ok    ${name}\n`).join(''));
  expect(process.exitCode).toBeUndefined();
});

test('a broker that does not know the users, or gives them more or less, fails the check', async () => {
  const home = folder();
  const users = join(home, 'users');
  const account = await natterAt(home)('broker', 'config', '--users', users);
  const reader = /# reader\n\{\n {2}"nkey": "(\w+)"/.exec(account)?.[1] ?? '';
  const router = /# router\n\{\n {2}"nkey": "(\w+)"/.exec(account)?.[1] ?? '';
  const less = `{ nkey: ${reader}, permissions: { publish: { allow: ["x"] }, subscribe: { allow: [">"] } } }`;
  const NATS_URL = await startWith(home, `accounts { NATTER { jetstream: enabled, users: [{ nkey: ${router} }, ${less}] } }`);
  const report = await natterAt(home, { NATS_URL, NATS_USERS_DIR: users })('broker', 'check');
  expect(report).toMatch(/^fail {2}session\n {6}.*authorization/im);
  expect(report).toMatch(/^fail {2}router\n[\s\S]*may, but must not publish natter\.event\.probe\n/m);
  expect(report).toMatch(
    /^fail {2}reader\n[\s\S]*may not, but must publish \$JS\.API\.DIRECT\.GET\.NATTER_EVENTS\n[\s\S]*may, but must not subscribe >\n/m,
  );
  expect(process.exitCode).toBe(1);
});

test('what is not a channel is refused before anything is made', async () => {
  const home = folder();
  const making = natterAt(home)('broker', 'config', '--users', join(home, 'users'), '--channel', '../irc');
  expect(hasCode(await making.catch((error: unknown) => error), 'invalid')).toBe(true);
  expect(() => statSync(join(home, 'users'))).toThrow();
});
