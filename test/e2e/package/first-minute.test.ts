import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openai, type ProviderServer, startProvider, stream } from '../../support/provider-server.ts';

/** What somebody sees who starts `natter up` on a terminal for the first time. */

const program = fileURLToPath(new URL('../../../dist/services/cli/main.js', import.meta.url));
const key = 'sk-planted-first-minute-4711';
let home: string;
let up: IPty | null = null;
let seen = '';
let raw = '';
let provider: ProviderServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'natter-first-'));
  [seen, raw] = ['', ''];
  const answer = stream(openai.begin(), openai.text('Good ', 'morning.'), openai.end('stop'));
  provider = await startProvider(answer);
});
afterEach(async () => {
  const ended = up;
  up = null;
  if (ended !== null) {
    const exit = new Promise((resolve) => ended.onExit(resolve));
    ended.kill('SIGTERM');
    await exit;
  }
  provider.close();
  rmSync(home, { recursive: true, force: true });
});

const start = (env: Record<string, string>, ...options: string[]): IPty => {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const path = { PATH: process.env.PATH ?? '', HOME: home, XDG_CACHE_HOME: cache, TERM: 'xterm', NO_COLOR: '1' };
  const terminal = spawn(process.execPath, [program, 'up', '--port', '0', ...options], {
    cols: 120,
    rows: 40,
    cwd: home,
    env: { ...path, ...env },
  });
  terminal.onData((data) => {
    raw += data;
    seen += stripVTControlCharacters(data);
  });
  up = terminal;
  return terminal;
};
const sees = (text: string | RegExp) => vi.waitFor(() => expect(seen).toMatch(text), { timeout: 60_000, interval: 20 });

/** Every file below a folder, as text. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile());

test('a server with models on this machine is offered, tried, written and answers; no key is in any file or on the screen', async () => {
  const terminal = start({ OLLAMA_HOST: new URL(provider.url).host, OTHER_API_KEY: key });
  await sees('Which model provider?');
  expect(seen).toContain('Ollama');
  terminal.write('\r');
  await sees('Which model?');
  terminal.write('\r');
  await sees(/works +ollama\/huge answered/);
  await sees(/natter is up +http:[\s\S]*model +ollama\/huge at http/);
  await sees(/you>\s*$/);
  terminal.write('hello\r');
  await sees('Good morning.');
  const files = filesIn(join(home, '.natter'));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) expect(readFileSync(file).includes(key), file).toBe(false);
  expect(seen).not.toContain(key);
}, 120_000);

test('where nothing is found, nothing is asked, and the first answer says how to get a real model', async () => {
  const terminal = start({ OLLAMA_HOST: '127.0.0.1:1' });
  await sees(/natter is up[\s\S]*model +offline \(repeats what you say/);
  expect(seen).not.toContain('Which model provider?');
  await sees(/you>\s*$/);
  terminal.write('hello\r');
  await sees(/You said: hello\s+I am the offline model: .*natter init/);
}, 120_000);

test('on a terminal without a cursor that moves, the log is printed instead of a chat, and no control sequence', async () => {
  start({ OLLAMA_HOST: new URL(provider.url).host, TERM: 'dumb' });
  await sees(/natter is up[\s\S]*Ctrl-C to stop\./);
  expect(raw).not.toContain('\u001b');
}, 120_000);

test('without a chat nothing spins between the lines of the log', async () => {
  start({ OLLAMA_HOST: '127.0.0.1:1' }, '--no-chat');
  await sees(/natter is up[\s\S]*Ctrl-C to stop\./);
  expect(seen).toContain('"level"');
  expect(seen).not.toContain('starting …');
}, 120_000);
