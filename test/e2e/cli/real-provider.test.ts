import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { anthropic, type Dialect, openai, type ProviderServer, startProvider, stream } from '../../support/provider-server.ts';

/** With a key in the environment Natter talks to a provider by configuration alone: what it says on the wire, and what it makes of the answer. */
const program = fileURLToPath(new URL('../../../dist/services/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'natter-provider-'));
const canary = 'sk-canary-1f9d2c7e5b';
let up: ChildProcess | null = null;
let provider: ProviderServer | null = null;

afterEach(async () => {
  provider?.close();
  if (up !== null && up.exitCode === null) {
    up.kill('SIGTERM');
    await once(up, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** A provider that calls `list_files` first and answers then. */
const scripted = ({ begin, call, text, end }: Dialect) =>
  startProvider(
    stream(begin(), call(0, 'list_files', '{"path":', '"."}'), end('calls', { input: 20, output: 5 })),
    stream(begin(), text('There is ', 'one note.'), end('stop', { input: 40, output: 6 })),
  );

/** Each file below a folder. */
const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile());

describe.each([
  ['openai-compatible', openai, { apiKeyEnv: 'HOUSE_KEY' }],
  ['anthropic', anthropic, { keyCommand: ['node', '-p', 'process.env.HOUSE_KEY'] }],
] as const)('a provider of kind %s', (kind, dialect, source) => {
  test('answers, calls a tool, and never sees its key anywhere but in its header (I12)', async () => {
    provider = await scripted(dialect);
    const home = join(folder, kind);
    const workspace = join(home, 'workspace');
    const config = {
      agent: { model: 'house/some-model', workspace },
      model: { providers: { house: { kind, baseUrl: provider.url, ...source } } },
    };
    const file = join(tmpdir(), `natter-provider-${kind}.json5`);
    writeFileSync(file, JSON.stringify(config));
    const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
    const env = {
      ...process.env,
      ...{ XDG_CACHE_HOME: cache, NATTER_DATA_DIR: home, NATTER_URL: '', NATTER_TOKEN: '', NATS_URL: '' },
    };
    const printed: string[] = [];
    const args = ['up', '--port', '0', '--config', file];
    const started = spawn(process.execPath, [program, ...args], {
      env: { ...env, HOUSE_KEY: canary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    up = started;
    for (const lines of [started.stdout, started.stderr])
      createInterface({ input: lines }).on('line', (line) => printed.push(line));
    await vi.waitFor(() => expect(printed.join('\n')).toContain('natter is up'), { timeout: 60_000 });
    writeFileSync(join(workspace, 'note.md'), 'remember the milk');

    const natter = async (...words: string[]) =>
      (await promisify(execFile)(process.execPath, [program, ...words], { env })).stdout;
    expect(await natter('send', 'main', 'what is there?', '--wait', '30')).toBe('There is one note.\n');

    const [first, second] = provider.requests;
    expect(JSON.stringify(first?.headers)).toContain(canary);
    expect(first?.body).toMatchObject({ model: 'some-model', stream: true });
    expect(JSON.stringify(first?.body.tools)).toContain('"list_files"');
    expect(JSON.stringify(second?.body.messages)).toContain('note.md');
    const row = JSON.parse(await natter('sessions', '--json')).sessions[0];
    expect(row).toMatchObject({ model: 'house/some-model', inputTokens: 60, outputTokens: 11, contextTokens: 46 });
    const told = [await natter('replay', 'main', '--diff'), await natter('export'), ...printed].join('\n');
    expect(told).toContain('list_files ok');
    expect(told).not.toContain(canary);
    const files = filesIn(home);
    expect(files.filter((path) => readFileSync(path).includes('There is one note.')).length).toBeGreaterThan(0);
    expect(files.filter((path) => readFileSync(path).includes(canary))).toEqual([]);
    expect(provider.requests.map(({ body }) => JSON.stringify(body)).join()).not.toContain(canary);
  }, 120_000);
});
