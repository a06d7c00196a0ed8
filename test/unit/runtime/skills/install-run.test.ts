import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type NodeManager, planOf } from '../../../../services/cli/skills-install/plan.ts';
import { runPlan } from '../../../../services/cli/skills-install/run.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { toolPlaces, withTools } from '../../../../shared/runtime/skills/places.ts';
import { tarGzOf, zipOf } from '../../../support/archives.ts';
import { skillOf, type TemporaryFolder, temporaryFolder } from './folders.ts';

let folder: TemporaryFolder;
const closing: (() => void)[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  folder.remove();
});

const dataDir = () => folder.at('data');
/** A manager that writes down what it was told, and does `then`. */
const manager = (name: string, then = 'true'): void => {
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder.at('told')}'\nenv > '${folder.at('env')}'\npwd >> '${folder.at('env')}'\n${then}\n`;
  chmodSync(folder.write(`managers/${name}`, script), 0o755);
};
const said = (file: string): string[] => readFileSync(folder.at(file), 'utf8').trim().split('\n');
const run = async (
  spec: object,
  {
    nodeManager = 'npm',
    signal = new AbortController().signal,
    name = 'demo',
  }: { nodeManager?: NodeManager; signal?: AbortSignal; name?: string } = {},
) => {
  const skill = skillOf(name, { install: [spec] });
  const places = toolPlaces(dataDir());
  const heard: string[] = [];
  const env = withTools(
    {
      PATH: `${folder.at('managers')}:/usr/bin:/bin`,
      HOME: folder.at('home'),
      NATTER_TOKEN: 'secret-1',
      NODE_OPTIONS: '--x',
      npm_config_prefix: '/x',
      HTTPS_PROXY: 'http://proxy:1',
    },
    dataDir(),
  );
  await runPlan(planOf(skill.manifest.install[0]!, 0, { skill, nodeManager, places }), {
    ...{ places, env, clock: systemClock, signal },
    progress: (text) => heard.push(text),
  });
  return heard;
};
const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
/** All files of the data directory; a failed download leaves none. */
const kept = (): string[] =>
  existsSync(dataDir())
    ? readdirSync(dataDir(), { recursive: true, encoding: 'utf8' }).filter((path) => !/^tools(\/bin)?$/.test(path))
    : [];

describe('A15/170: package managers', () => {
  test.each<[program: string, spec: object, told: readonly string[], nodeManager?: NodeManager]>([
    ['brew', { kind: 'brew', formula: 'jq' }, ['install', 'jq']],
    ['uv', { kind: 'uv', package: 'ruff' }, ['tool', 'install', '--no-build', 'ruff']],
    ['go', { kind: 'go', module: 'example.org/x' }, ['install', 'example.org/x@latest']],
    [
      'npm',
      { kind: 'node', package: 'x' },
      ['install', '--global', '--prefix=DATA/tools', '--ignore-scripts', '--no-audit', '--no-fund', 'x'],
    ],
    ['bun', { kind: 'node', package: 'x' }, ['add', '--global', '--ignore-scripts', 'x'], 'bun'],
  ])('%s gets its arguments as they are, and nothing of our environment', async (program, spec, told, nodeManager = 'npm') => {
    manager(program, 'echo almost there');
    expect(await run(spec, { nodeManager })).toEqual(['almost there']);
    expect(said('told')).toEqual(told.map((text) => text.replace('DATA', dataDir())));
    const env = said('env').join('\n');
    expect(env).toContain(`HOME=${folder.at('home')}`);
    expect(env).toContain('HTTPS_PROXY=http://proxy:1');
    expect(env).toMatch(new RegExp(`^PATH=.*:${dataDir()}/tools/bin$`, 'm'));
    expect(env).not.toMatch(/secret-1|NODE_OPTIONS|npm_config/);
    expect(said('env').at(-1)).toBe(`${dataDir()}/tools`);
    if (program === 'go') expect(env).toContain(`GOBIN=${dataDir()}/tools/bin`);
  });

  test('one that fails says what it said', async () => {
    manager('brew', 'echo no such formula >&2; exit 3');
    await expect(run({ kind: 'brew', formula: 'jq' })).rejects.toThrow(/brew install jq ended with 3:\nno such formula/);
  });
  test('one that is not there', async () => {
    await expect(run({ kind: 'uv', package: 'ruff' })).rejects.toThrow(/"uv": there is no such program/);
  });
  test('one that is interrupted ends with all it has started', async () => {
    manager('go', `sleep 60 & echo $! > '${folder.at('child')}'; echo started; wait`);
    const controller = new AbortController();
    const ended = run({ kind: 'go', module: 'example.org/x' }, { signal: controller.signal }).catch((error: unknown) => error);
    await expect.poll(() => existsSync(folder.at('child'))).toBe(true);
    controller.abort(new Error('interrupted'));
    expect(await ended).toMatchObject({ message: 'interrupted' });
    const child = Number(said('child')[0]);
    await expect.poll(() => isRunning(child)).toBe(false);
  });
});
const isRunning = (pid: number): boolean => {
  try {
    return !/^\S+ \S+ Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

describe('A15/169–170: downloads', () => {
  const program = '#!/bin/sh\necho hello\n';
  const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

  test('an archive, its checksum right: in the folder of the skill, its program on the path', async () => {
    const bytes = tarGzOf([
      { path: 'tool-1.0/bin/tool', text: program },
      { path: 'tool-1.0/README.md', text: 'Read.' },
    ]);
    const url = await serve((_, response) => response.end(bytes));
    const spec = {
      kind: 'download',
      url: `${url}/tool.tar.gz`,
      sha256: sha256(bytes),
      stripComponents: 1,
      bins: ['tool'],
      targetDir: 'runtime',
    };
    expect((await run(spec)).at(-1)).toContain(`${bytes.length}`);
    const place = folder.at('data/tools/bin/tool');
    expect(readlinkSync(place)).toBe(folder.at('data/tools/skills/demo/runtime/bin/tool'));
    expect(readFileSync(place, 'utf8')).toBe(program);
    // Again: in place of what is there.
    await run(spec);
    expect(kept().filter((path) => path.includes('new-'))).toEqual([]);
    // Another skill cannot bring a program of the same name.
    await expect(run(spec, { name: 'other' })).rejects.toThrow(/is there already, and not of this skill/);
    expect(existsSync(folder.at('data/tools/skills/other'))).toBe(false);
  });

  test('a single file is kept under the name of its program', async () => {
    const url = await serve((_, response) => response.end(program));
    await run({ kind: 'download', url: `${url}/tool-linux-amd64`, bins: ['tool'] });
    expect(readFileSync(folder.at('data/tools/bin/tool'), 'utf8')).toBe(program);
  });

  const file = { kind: 'download', sha256: sha256('right') };
  test.each<[what: string, path: string, listener: RequestListener, problem: RegExp]>([
    ['a wrong checksum', '/x', (_, response) => response.end('wrong'), /SHA-256 is [0-9a-f]{64}, not/],
    [
      'an answer that breaks off',
      '/x',
      (_, response) => response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy()),
      /broke off/,
    ],
    [
      'an answer that says it is too large',
      '/x',
      (_, response) => response.writeHead(200, { 'content-length': String(2 ** 40) }).flushHeaders(),
      /more than/,
    ],
    ['nothing there', '/x', (_, response) => response.writeHead(404).end(), /HTTP 404/],
    [
      'an address without TLS',
      '/x',
      (_, response) => response.writeHead(302, { location: 'http://example.org/x' }).end(),
      /not https/,
    ],
    ['another protocol', '/x', (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(), /not https/],
    [
      'no end of redirects',
      '/x',
      (request, response) => response.writeHead(302, { location: `${request.url}x` }).end(),
      /more than 5 times/,
    ],
  ])('%s: nothing stays behind', async (_, path, listener, problem) => {
    const url = await serve(listener);
    await expect(run({ ...file, url: `${url}${path}` })).rejects.toThrow(problem);
    expect(kept()).toEqual([]);
  });

  test('a hostile archive: what was there before stays, and nothing else', async () => {
    let bytes = zipOf([{ path: 'tool', text: program }]);
    const url = await serve((_, response) => response.end(bytes));
    const spec = { kind: 'download', url: `${url}/tool.zip`, bins: ['tool'], targetDir: 'runtime' };
    await run(spec);
    const before = kept();
    bytes = zipOf([
      { path: 'fine', text: 'x' },
      { path: '../../escaped', text: 'x' },
    ]);
    await expect(run(spec)).rejects.toThrow(/\.\.|leads out/);
    expect(kept()).toEqual(before);
    expect(readFileSync(folder.at('data/tools/bin/tool'), 'utf8')).toBe(program);
  });

  test('one that is interrupted', async () => {
    const url = await serve((_, response) => response.writeHead(200).write('half'));
    const controller = new AbortController();
    const ended = run({ ...file, url: `${url}/x` }, { signal: controller.signal }).catch((error: unknown) => error);
    await expect.poll(() => kept().some((path) => path.endsWith('file'))).toBe(true);
    controller.abort(new Error('interrupted'));
    expect(await ended).toMatchObject({ message: 'interrupted' });
    expect(kept()).toEqual([]);
  });
});
