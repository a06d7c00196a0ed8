import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { canConfine, compose, deployFile, openPlace, port, probe, program, read, root, said, variables } from './deployed.ts';

let place: Awaited<ReturnType<typeof openPlace>>;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());

const { services, volumes } = compose('compose.yaml');
const service = services.natter!;
/** The settings of a unit; one that stands there several times has all its values. */
const unit = [...read('natter.service').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']): [string, string] => [
  name,
  value,
]);
const setting = (name: string): string[] => unit.filter(([each]) => each === name).map(([, value]) => value);

describe('the image', () => {
  test('runs as a user without rights, has what it copies, and keeps nothing outside its volume', () => {
    expect(said('USER')).toEqual(['node']);
    expect(said('VOLUME')).toEqual(['/data']);
    expect([variables.HOME, variables.NATTER_DATA_DIR]).toEqual(['/data', '/data']);
    const [copied = '', place = ''] = said('COPY').at(-1)?.split(' ') ?? [];
    expect(readFileSync(join(root, copied), 'utf8')).toBe(read('container.json5'));
    expect(place).toBe(variables.NATTER_CONFIG);
    expect(read('Dockerfile')).not.toMatch(/:latest|^ARG|_KEY|TOKEN/m);
  });

  test.skipIf(!canConfine)('nothing but the folders of a container can be written in it', () => {
    const { data, temporary, mayWrite } = place.container('natter');
    expect([data, temporary, place.folder, root].map(mayWrite)).toEqual([true, true, false, false]);
  });

  test('its command starts on a root that is read-only, is ready by its own probe, answers, and stops on its signal', async () => {
    const { data, run } = place.container('natter');
    const inTest = (value: string): string =>
      value.replace(/^\/data/, data).replace('/etc/natter/natter.json5', deployFile('container.json5'));
    const env = Object.fromEntries(
      Object.entries({ ...variables, ...service.environment }).map(([name, value]) => [name, inTest(String(value))]),
    );
    const ask = (url: string) => {
      const [asking = '', ...words] = probe.map((word) => word.replace(`http://127.0.0.1:${port}`, url));
      return spawnSync(asking, words, { env: { ...env, ...place.path } }).status;
    };
    expect(probe.join(' ')).toContain(`http://127.0.0.1:${port}/readyz`);
    expect(ask('http://127.0.0.1:1')).toBe(1);

    const printed: string[] = [];
    const started = run({ ...env, NATTER_PORT: '0' }, program);
    createInterface({ input: started.stdout! }).on('line', (line) => printed.push(line));
    await vi.waitFor(() => expect(printed.join('\n')).toContain('natter is up'), { timeout: 60_000 });
    const { url, token } = JSON.parse(readFileSync(join(data, 'gateway.json'), 'utf8')) as { url: string; token: string };
    const reached = url.replace('0.0.0.0', '127.0.0.1');
    await vi.waitFor(() => expect(ask(reached)).toBe(0), { timeout: 30_000 });
    const posted = await fetch(`${reached}/v1/sessions/main/messages?wait=20`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'one' },
      body: JSON.stringify({ text: 'hello' }),
    });
    expect(await posted.text()).toContain('You said: hello');
    started.kill(said('STOPSIGNAL')[0] as NodeJS.Signals);
    expect(await once(started, 'exit')).toEqual([0, null]);
    expect(readdirSync(place.folder).sort()).toEqual(['bin', 'natter']);
  }, 120_000);
});

describe('the compose file', () => {
  test('builds this image for one node with a read-only root and no rights, published to this machine alone', () => {
    expect(join('docs/examples/deploy', service.build.context)).toBe('.');
    expect(service.build.dockerfile).toBe('docs/examples/deploy/Dockerfile');
    expect(service).toMatchObject({ init: true, read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(service.ports).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(service.volumes).toEqual([`${Object.keys(volumes)[0]}:${said('VOLUME')[0]}`]);
    expect(service.command, 'the command is that of the image').toBeUndefined();
  });
});

test('the linter of compose files finds no fault with either of them, and would with a misspelt key', () => {
  const env = { PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` };
  const check = (file: string) => spawnSync('dclint', ['--quiet', file], { encoding: 'utf8', env });
  for (const name of ['compose.yaml', 'compose-r3.yaml']) {
    const { status, stdout } = check(deployFile(name));
    expect(status, stdout).toBe(0);
    const misspelt = join(place.folder, `misspelt-${name}`);
    writeFileSync(misspelt, read(name).replace('read_only', 'readonly'));
    expect(check(misspelt).status).toBe(1);
  }
});

describe('the unit', () => {
  test('starts what the image starts, with its data where systemd keeps it', () => {
    expect(setting('ExecStart')).toEqual([`/usr/local/bin/${program.join(' ')}`]);
    const given = Object.fromEntries(setting('Environment').map((line) => line.split('=') as [string, string]));
    const state = `/var/lib/${setting('StateDirectory')[0]}`;
    expect(given).toMatchObject({ HOME: state, NATTER_DATA_DIR: state });
    expect(setting('DynamicUser')).toEqual(['yes']);
    // V8 writes the code that it runs.
    expect(setting('MemoryDenyWriteExecute')).toEqual([]);
  });

  test('systemd finds no fault with it, where there is systemd', ({ skip }) => {
    const file = join(place.folder, 'natter.service');
    writeFileSync(file, read('natter.service').replace('/usr/local/bin/natter', '/bin/true'));
    const checked = spawnSync('systemd-analyze', ['verify', '--recursive-errors=yes', '--man=no', file], { encoding: 'utf8' });
    if (checked.error) skip('systemd-analyze is not installed');
    expect(checked.stderr).not.toContain('natter.service');
    // Of 100: what a service without any protection is exposed to.
    const exposure = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=35', file], { encoding: 'utf8' });
    expect(exposure.status, exposure.stdout + exposure.stderr).toBe(0);
  });
});

test('every variable in them is one that Natter or Node knows, and all give a stop the same time', () => {
  const known = [
    ...readFileSync(join(root, 'shared/runtime/config/load.ts'), 'utf8').matchAll(/'(NATTER_\w+|NATS_\w+)'|env\.(NATTER_\w+)/g),
  ].flatMap(([, quoted, plain]) => quoted ?? plain ?? []);
  const used = ['Dockerfile', 'compose.yaml', 'compose-r3.yaml', 'natter.service'].flatMap(
    (name) => read(name).match(/\b(NATTER|NATS)_\w+/g) ?? [],
  );
  const variables = ['NATTER_CONFIG', 'NATTER_DATA_DIR', 'NATTER_LOG_LEVEL', 'NATS_URL', 'NATS_USERS_DIR'];
  expect(new Set(used)).toEqual(new Set(variables));
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
  const stops = [service, compose('compose-r3.yaml').services.natter!].map((each) => each.stop_grace_period);
  expect([...stops, ...setting('TimeoutStopSec')]).toEqual(['15s', '15s', '15s']);
});
