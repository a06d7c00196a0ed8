import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';

/**
 * The files of docs/examples/deploy, without containers: what they start is started as a process, with their variables and their
 * configuration, and asked by their own probe. Folders of the image are folders of this test.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (name: string): string => readFileSync(join(root, 'docs/examples/deploy', name), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'natter-deploy-'));
let running: ChildProcess | null = null;
afterAll(async () => {
  if (running?.exitCode === null) {
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** The instructions of the last stage of a Dockerfile, in their order. */
const instructionsOf = (text: string): [name: string, rest: string][] => {
  const all = [...text.matchAll(/^([A-Z]+) +(.+)$/gm)].map(([, name = '', rest = '']): [string, string] => [name, rest]);
  return all.slice(all.findLastIndex(([name]) => name === 'FROM'));
};
const image = instructionsOf(read('Dockerfile'));
const said = (name: string): string[] => image.filter(([each]) => each === name).map(([, rest]) => rest);
const listIn = (text = ''): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];
const variables = Object.fromEntries(said('ENV').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
const probe = listIn(said('HEALTHCHECK')[0]);
const compose = parse(read('compose.yaml')) as { services: { natter: Record<string, any> }; volumes: object };
const { natter: service } = compose.services;
/** The settings of a unit; one that stands there several times has all its values. */
const unit = [...read('natter.service').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']): [string, string] => [
  name,
  value,
]);
const setting = (name: string): string[] => unit.filter(([each]) => each === name).map(([, value]) => value);

const program = [...listIn(said('ENTRYPOINT')[0]), ...listIn(said('CMD')[0])];
const port = Number(said('EXPOSE')[0]);

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

  test('its command starts, is not ready before, is ready by its own probe, answers, and stops on its signal; all it writes is in its volume', async () => {
    const bin = join(folder, 'bin');
    const [command = '', ...args] = program;
    // The command by its name, on a path as in the image.
    symlinkSync(join(root, 'dist/services/cli'), bin);
    chmodSync(join(bin, 'main.js'), 0o755);
    const named = join(folder, command);
    writeFileSync(named, `#!/bin/sh\nexec node ${join(bin, 'main.js')} "$@"\n`, { mode: 0o755 });
    const data = join(folder, 'data');
    const inTest = (value: string): string =>
      value.replace(/^\/data/, data).replace('/etc/natter/natter.json5', join(root, 'docs/examples/deploy/container.json5'));
    const env = Object.fromEntries(
      Object.entries({ ...variables, ...service.environment }).map(([name, value]) => [name, inTest(String(value))]),
    );
    const path = {
      PATH: `${folder}:${process.env.PATH}`,
      XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    };
    const ask = (url: string) => {
      const [asking = '', ...words] = probe.map((word) => word.replace(`http://127.0.0.1:${port}`, url));
      return spawnSync(asking, words, { env: { ...env, ...path } }).status;
    };
    expect(probe.join(' ')).toContain(`http://127.0.0.1:${port}/readyz`);
    expect(ask('http://127.0.0.1:1')).toBe(1);

    const printed: string[] = [];
    const started = spawn(command, args, {
      env: { ...env, ...path, NATTER_PORT: '0' },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    running = started;
    createInterface({ input: started.stdout }).on('line', (line) => printed.push(line));
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
    expect(readdirSync(folder).sort()).toEqual(['bin', 'data', 'natter']);
  }, 120_000);
});

describe('the compose file', () => {
  test('builds this image for one node with a read-only root and no rights, published to this machine alone', () => {
    expect(join('docs/examples/deploy', service.build.context)).toBe('.');
    expect(service.build.dockerfile).toBe('docs/examples/deploy/Dockerfile');
    expect(service).toMatchObject({ init: true, read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(service.ports).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(service.volumes).toEqual([`${Object.keys(compose.volumes)[0]}:${said('VOLUME')[0]}`]);
    expect(service.command, 'the command is that of the image').toBeUndefined();
  });
});

describe('the unit', () => {
  test('starts what the image starts, with its data where systemd keeps it', () => {
    expect(setting('ExecStart')).toEqual([`/usr/local/bin/${program.join(' ')}`]);
    const given = Object.fromEntries(setting('Environment').map((line) => line.split('=') as [string, string]));
    const place = `/var/lib/${setting('StateDirectory')[0]}`;
    expect(given).toMatchObject({ HOME: place, NATTER_DATA_DIR: place });
    expect(setting('DynamicUser')).toEqual(['yes']);
    // V8 writes the code that it runs.
    expect(setting('MemoryDenyWriteExecute')).toEqual([]);
  });

  test('systemd finds no fault with it, where there is systemd', ({ skip }) => {
    const file = join(folder, 'natter.service');
    writeFileSync(file, read('natter.service').replace('/usr/local/bin/natter', '/bin/true'));
    const checked = spawnSync('systemd-analyze', ['verify', '--recursive-errors=yes', '--man=no', file], { encoding: 'utf8' });
    if (checked.error) skip('systemd-analyze is not installed');
    expect(checked.stderr).not.toContain('natter.service');
    // Of 100: what a service without any protection is exposed to.
    const exposure = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=35', file], { encoding: 'utf8' });
    expect(exposure.status, exposure.stdout + exposure.stderr).toBe(0);
  });
});

test('every variable in them is one that Natter or Node knows, and both give a stop the same time', () => {
  const known = [
    ...readFileSync(join(root, 'shared/runtime/config/load.ts'), 'utf8').matchAll(/'(NATTER_\w+)'|env\.(NATTER_\w+)/g),
  ].flatMap(([, quoted, plain]) => quoted ?? plain ?? []);
  const used = ['Dockerfile', 'compose.yaml', 'natter.service'].flatMap((name) => read(name).match(/\bNATTER_\w+/g) ?? []);
  expect(new Set(used)).toEqual(new Set(['NATTER_CONFIG', 'NATTER_DATA_DIR', 'NATTER_LOG_LEVEL']));
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
  expect([service.stop_grace_period, ...setting('TimeoutStopSec')]).toEqual(['15s', '15s']);
});
