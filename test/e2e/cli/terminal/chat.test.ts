import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TerminalScreen } from '../../../support/terminal/screen.ts';

/** The chat as people have it: `natter up` and `natter chat` on terminals, from an empty home. */
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const program = join(root, 'dist/services/cli/main.js');
const home = mkdtempSync(join(tmpdir(), 'natter-chat-'));
const dataDir = join(home, '.natter');

interface OnTerminal {
  readonly screen: TerminalScreen;
  type(text: string): void;
  /** Resolves when the text is on the screen. */
  shows(text: string | RegExp): Promise<void>;
  /** Types a line and resolves when the text is on the screen below it. */
  say(line: string, text: string | RegExp): Promise<void>;
  readonly exited: Promise<number>;
  kill(): void;
}
const natter = (...args: string[]): OnTerminal => {
  const screen = new TerminalScreen(100);
  const env = {
    ...process.env,
    HOME: home,
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    NO_COLOR: '',
  };
  for (const name of ['NATTER_DATA_DIR', 'NATTER_URL', 'NATTER_TOKEN', 'NATS_URL']) Object.assign(env, { [name]: '' });
  const terminal: IPty = spawn(process.execPath, [program, ...args], { cols: 100, rows: 40, cwd: home, env });
  let isAlive = true;
  terminal.onData((data) => screen.write(data));
  const exited = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode }) => {
      isAlive = false;
      resolve(exitCode);
    });
  });
  const shows = (text: string | RegExp): Promise<void> =>
    vi.waitFor(() => expect(screen.text).toMatch(text), { timeout: 60_000 });
  const type = (text: string): void => terminal.write(text);
  return {
    ...{ screen, type, shows, exited },
    say: async (line, text) => {
      const before = screen.text.length;
      type(`${line}\r`);
      await vi.waitFor(() => expect(screen.text.slice(before - 5)).toMatch(text), { timeout: 60_000 });
    },
    kill: () => isAlive && terminal.kill('SIGKILL'),
  };
};

let up: OnTerminal;
beforeAll(async () => {
  up = natter('up', '--port', '0', '--config', join(root, 'docs/examples/tools.json5'));
  await up.shows('you>');
}, 90_000);
afterAll(() => {
  up.kill();
  rmSync(home, { recursive: true, force: true });
});

test('/stop and Ctrl-C stop the answer that streams, and the chat goes on', async () => {
  await up.say('hello', /You said: hello\n[\s\S]*offline model[^\n]*\nyou>/);
  up.type('[[think 20000]] one two three four\r');
  await up.shows(/You( said:.*)?\nyou>/);
  await up.say('/stop', /Stopped the answer[^\n]*\nyou>/);
  up.type('[[think 20000]] five six seven eight\r');
  await up.shows(/You( said:.*)?\nyou> *$/);
  up.type('\u0003');
  await up.shows(/Stopped the answer[^\n]*\nCtrl-C again stops everything\.\nyou>/);
  // What Ctrl-C would do is said until another key is pressed.
  up.type('s');
  await up.shows(/Stopped the answer[^\n]*\nyou> s$/);
  await up.say('till here', 'You said: still here\nyou>');
});

test('a paste of several lines is one message; a misspelt command is refused', async () => {
  await up.say('\u001b[200~one\rtwo\u001b[201~', 'You said: one\ntwo\nyou>');
  await up.say('/stpo', /no command \/stpo\. Did you mean \/stop\?[^>]*\nyou>/);
  await up.say('/help', /\/new \[model\][\s\S]*\nyou>/);
});

test('A5/62: a tool call is approved in place, or denied', async () => {
  await up.say('[[tool exec {"command": ["echo", "made it"]}]] go', /Approval needed[\s\S]*made it[\s\S]*\nallow\?/);
  await up.say('y', /exec → [\s\S]*made it\nyou>/);
  await up.say('[[tool exec {"command": ["echo", "again"]}]] go', /Approval needed[\s\S]*\nallow\?/);
  await up.say('n not today', /denied[\s\S]*not today[\s\S]*\nyou>/);
});

test('Ctrl-C at a question says that the call was not run', async () => {
  await up.say('[[tool exec {"command": ["echo", "third"]}]] go', /Approval needed[\s\S]*\nallow\?/);
  up.type('\u0003');
  await up.shows(/exec was not run\.\nStopped the answer[^\n]*\nCtrl-C again stops everything\.\nyou>/);
  // The hint goes with the next key.
  up.type('\u0015');
  await up.shows(/exec was not run\.\nStopped the answer[^\n]*\nyou>/);
});

test('another terminal joins with natter chat, sees what was said, and leaves with exit', async () => {
  const other = natter('chat');
  try {
    await other.shows(
      /you> .*echo", "third"[^\n]*\n[\s\S]*exec was not run\.\nstopped by you; only finished steps are kept\nyou>/,
    );
    expect(other.screen.text).toMatch(/· exec \{"command":.*"made it".*\} \(allowed by you\)\n[\s\S]*made it\n/);
    expect(other.screen.text).toMatch(/· exec \{"command":.*"again".*\}\n· exec: denied: .*not today/);
    await other.say('hi from there', 'You said: hi from there\nyou>');
    await up.shows(/hi from there\nYou said: hi from there\nyou>/);
    other.type('exit\r');
    expect(await other.exited).toBe(0);
  } finally {
    other.kill();
  }
});

test('send tells of a session that it begins, once, and not with --new; a bare list lists', async () => {
  const said = async (...args: string[]): Promise<string> => {
    const command = natter(...args);
    expect(await command.exited).toBe(0);
    return command.screen.text;
  };
  expect(await said('send', 'agent:main:fresh', 'hi')).toContain('agent:main:fresh is a new session');
  expect(await said('send', 'agent:main:fresh', 'hi', '--wait')).toBe('You said: hi');
  expect(await said('send', 'agent:main:other', '**hi**', '--wait', '--new')).toMatch(/^You said: hi/);
  expect(await said('replay', 'agent:main:other')).toContain('2 messages, 1 completed turn,');
  expect(await said('approvals')).toBe('no pending approvals');
  expect(await said('memory')).toBe('no memories');
  expect(await said('skills')).toContain('summarize');
});

test('natter mcp serve tells a person what it waits for, and Ctrl-C ends it', async () => {
  const server = natter('mcp', 'serve');
  try {
    await server.shows('Waiting for an MCP client');
    server.type('\u0003');
    expect(await server.exited).toBe(0);
  } finally {
    server.kill();
  }
});

test('nothing that came controls the terminal, and the second Ctrl-C leaves', async () => {
  await up.say('\u001b[200~&#27;[2J \u001b]0;x\u0007\u001b[201~', /You said: .*\nyou>/);
  expect(up.screen.strange).toEqual([]);
  up.type('\u0003\u0003');
  await up.shows('stopping');
  expect(await up.exited).toBe(0);
  expect(readFileSync(join(dataDir, 'natter.log'), 'utf8')).not.toContain('"level":50');
});

test('an answer that was under way when everything was killed goes on at the next start, which says so', async () => {
  const start = async (): Promise<void> => {
    up = natter('up', '--port', '0');
    await up.shows('you>');
  };
  await start();
  up.type('[[think 8000]] one two\r');
  await up.shows(/one two\nYou( said:.*)?\nyou>/);
  up.kill();
  await up.exited;
  await start();
  await up.shows(/one two\nThe answer that was under way goes on\.\n[\s\S]*You said: one two\nyou>/);
}, 180_000);
