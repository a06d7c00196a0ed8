import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { questionAt } from '../gateway/page/browser.ts';
import { installPacked, type Packed } from './packed.ts';

/** The whole product as people meet it: the packed `natter up` with two host processes, its commands, and the snippets of the README and the tour. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'natter-up-'));
const home = mkdtempSync(join(tmpdir(), 'natter-home-'));
const env = {
  ...process.env,
  ...{ HOME: home, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || join(homedir(), '.cache') },
  ...{ NATTER_DATA_DIR: dataDir, NATTER_URL: '', NATTER_TOKEN: '', NATS_URL: '', NO_COLOR: '1' },
};
const upArguments = ['--hosts', '2', '--port', '0', '--config', join(root, 'docs/examples/tools.json5')];
let packed: Packed;
let up: ChildProcess;

/** What older programs left in the home directory: stores, and transcripts of sessions. */
const legacy = [
  '.pi/agent/sessions/legacy-1.jsonl',
  '.tau/agent/sessions/legacy-2.jsonl',
  '.clawdis/sessions.json',
  '.clawdis/sessions/sessions.json',
  '.moltbot/agents/main/sessions/sessions.json',
  '.moltbot/agents/main/sessions/legacy-3.jsonl',
].map((path) => join(home, path));
const longAgo = new Date('2001-01-01');
/** Writes a file that seems not to have been read since long ago. */
const plant = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{"agent:main:legacy": {"sessionId": "legacy-3", "text": "words of long ago"}}\n');
  for (const what of [path, dirname(path)]) utimesSync(what, longAgo, new Date());
};
const wasRead = (path: string): boolean => statSync(path).atime > longAgo;
const printed: string[] = [];
const logged: string[] = [];

/** Runs a command of ours to its end. */
const natter = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => natterIn({}, ...args);
const natterIn = async (
  more: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> => {
  try {
    const options = { env: { ...env, ...more }, cwd: root };
    return { code: 0, ...(await promisify(execFile)(packed.natter, args, options)) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
};
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
/** The session hosts that run now: those that were killed have others in their place. */
const hostPids = (): number[] =>
  readFileSync(`/proc/${up.pid}/task/${up.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0service\0session'));

beforeAll(async () => {
  for (const path of legacy) plant(path);
  packed = await installPacked();
  up = spawn(packed.natter, ['up', ...upArguments], { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  createInterface({ input: up.stderr ?? process.stdin }).on('line', (line) => logged.push(line));
  createInterface({ input: up.stdout ?? process.stdin }).on('line', (line) => printed.push(line));
  await vi.waitFor(() => expect(printed.join('\n')).toContain('natter is up'), { timeout: 60_000 });
}, 120_000);
afterAll(async () => {
  if (up.exitCode === null) {
    up.kill('SIGKILL');
    await once(up, 'exit');
  }
  packed.remove();
  for (const folder of [dataDir, home]) rmSync(folder, { recursive: true, force: true });
});

describe('the README and the tour', () => {
  const pages = ['README.md', 'docs/use/tour.md'];
  const blocks = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/<!-- tested(.*?) -->\n```sh\n([\s\S]*?)```/g)].map(
      ([, when = '', code = ''], index) => ({ name: `${page}, snippet ${index + 1}`, page, when, code }),
    ),
  );

  test.each(pages)('%s has snippets to run', (name) => {
    expect(blocks.filter(({ page }) => page === name).length).toBeGreaterThanOrEqual(2);
  });
  test.each(blocks.map((block) => [block.name, block] as const))(
    '%s does what it says',
    async (_, { when, code }) => {
      if (when.includes('kill -9')) for (const pid of hostPids()) process.kill(pid, 'SIGKILL');
      // The browser that opens the page is the test's.
      const run = code.replace('natter open ', 'natter open --print ');
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', run], { env, cwd: root });
      if (code.includes('"hello" --wait')) expect(stdout).toContain('You said: hello\n');
      if (code.includes('called Anvil')) {
        expect(stdout).toMatch(/ABOUT[\s\S]*remember that the build server[\s\S]*MEMORY +CHANGED/);
        expect(stdout).toMatch(/I remember:\n[^\n]*the build server is called Anvil\n$/);
      }
      if (code.includes('SKILL.md')) expect(stdout).toMatch(/tides[\s\S]*tide-tables[\s\S]*\nSkills: (?!.*tides).*greet/);
      if (code.includes('why-reset')) expect(stdout).toMatch(/Agent: reachable[\s\S]*You said: what now\?\n[\s\S]*\/new/);
      if (code.includes('replay')) expect(stdout).toContain("identical to the server's state");
      if (code.includes('approvals list  ')) expect(stdout).toMatch(/APPROVAL[\s\S]*agent:main:work +run /);
      if (code.includes('natter open ')) {
        const question = await questionAt(/^http:\S+#\S+$/m.exec(stdout)?.[0] ?? 'no address');
        if (question !== null) expect(question).toContain('date >> ran.txt');
      }
      if (code.includes('approvals resolve'))
        expect(stdout).toMatch(/You said: and now\?[\s\S]*tool_result[\s\S]*\n[^\n]*\d\d:\d\d:\d\d[^\n]*\n$/);
      if (code.includes('ingest'))
        expect(stdout).toMatch(/stored +4\n[\s\S]*turns run +1 \(1 completed[\s\S]*already stored +4\nstored +0\n/);
      if (code.includes('natter/client')) {
        expect(stdout).toContain('"reply":"You said: hello over HTTP"');
        expect(stdout).toMatch(/^id: 1\.0\nevent: session_opened\ndata: \{/m);
        expect(stdout).toMatch(/\n1\.0 session_opened agent:main:main\n[\s\S]*\nYou said: hello from a program\n$/);
      }
      // After a kill the hosts have to start and to take over first.
    },
    90_000,
  );
});

describe('the packed command, in an empty folder', () => {
  /** The modules that a command loads, and `Intl.DateTimeFormat`, as its data is large. */
  const loadedBy = async (...args: string[]): Promise<string[]> => {
    const hook = `import { writeSync } from 'node:fs';
export const load = (url, context, next) => { writeSync(2, 'loaded ' + url + '\\n'); return next(url, context); };`;
    const register = `import { writeSync } from 'node:fs';
import { register } from 'node:module';
const told = (made) => { writeSync(2, 'loaded Intl.DateTimeFormat\\n'); return made; };
Intl.DateTimeFormat = new Proxy(Intl.DateTimeFormat, {
  apply: (format, _, given) => told(format(...given)),
  construct: (format, given) => told(new format(...given)),
});
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
    const options = ['--import', `data:text/javascript,${encodeURIComponent(register)}`, packed.natter, ...args];
    const { stderr } = await promisify(execFile)(process.execPath, options, { env, cwd: home });
    return stderr.split('\n').flatMap((line) => (line.startsWith('loaded ') ? [line.slice(7)] : []));
  };

  test('natter --version loads two dozen modules, and nothing that it does not use', async () => {
    const loaded = await loadedBy('--version');
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.length).toBeLessThan(25);
    // A command of its own loads its dependencies, so that they would be seen.
    expect((await loadedBy('status', '--help')).join()).toContain('/zod/');
    expect(loaded.join()).not.toMatch(/\/(zod|fastify|xstate|pino|ws|@nats-io)\/|Intl/);
  });

  test('natter send loads neither a WebSocket nor what computes with times, which other commands load', async () => {
    const loaded = (await loadedBy('send', 'agent:main:light', 'hello', '--new')).join();
    expect(loaded).toMatch(/\/zod\//);
    expect(loaded).not.toMatch(/\/(ws|temporal-polyfill|fastify|xstate|pino|@nats-io)\//);
    const listed = (await loadedBy('sessions')).join();
    expect(listed).toMatch(/\/temporal-polyfill\/.*Intl/);
  });

  test('natter mcp serve answers a client that starts it', async () => {
    const transport = new StdioClientTransport({ command: packed.natter, args: ['mcp', 'serve'], env: env as never, cwd: home });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('sessions_send');
    } finally {
      await client.close();
    }
  });

  test('natter --help says where the documents are that its messages name', async () => {
    const [, folder = ''] = /\nDocuments:\n {2}(\S+)\n/.exec((await natter('--help')).stdout) ?? [];
    expect(existsSync(join(folder, 'operate/operations.md')), folder).toBe(true);
  });

  test('says how to call it: by its name, or as npm was called', async () => {
    expect(printed.join('\n')).toMatch(/^ {2}try {4}natter send agent:main:main "hello" --wait$/m);
  });
});

describe('commands', () => {
  test('only the user can read the files with secrets in them (I12)', () => {
    for (const name of ['gateway.json', 'broker.json', 'broker/users/session.nk'])
      expect(statSync(join(dataDir, name)).mode & 0o077).toBe(0);
    expect(statSync(dataDir).mode & 0o077).toBe(0);
  });

  test('the token is not printed, but where it is (I12)', () => {
    const { token } = JSON.parse(readFileSync(join(dataDir, 'gateway.json'), 'utf8'));
    expect(printed.join('\n')).toContain(`data   ${dataDir} (token: gateway.json)`);
    expect(printed.join('\n')).not.toContain(token);
  });

  test('a token of the installation that the model says is not recorded (I12)', async () => {
    const { token } = JSON.parse(readFileSync(join(dataDir, 'gateway.json'), 'utf8'));
    const { stdout } = await natter('send', 'agent:main:said', `my key is ${token}!`, '--wait');
    expect(stdout).toContain('You said: my key is [secret]!');
  });

  test('doctor finds nothing wrong, and names the address in use, as the validation does', async () => {
    const { code, stdout } = await natter('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: { what: string; level: string; detail: string }[] };
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([]);
    expect(code).toBe(0);
    const { host } = new URL(JSON.parse(readFileSync(join(dataDir, 'gateway.json'), 'utf8')).url);
    expect(findings.find(({ what }) => what === 'address')?.detail).toContain(`${host}, `);
    expect((await natter('config', 'validate')).stdout).toContain(`address http://${host} `);
  });

  test.each([
    [['bogus'], 2, /unknown command/],
    [['gateway', 'call', '--help'], 0, /--params[\s\S]*Global options: --url, --token, --token-file/],
    [['send', 'bad key', 'x'], 2, /session key contains " "/],
    [['send', 'agent:main:main'], 2, /missing required argument/],
    [['sessions', '--active', 'soon'], 2, /Use a whole number/],
    [['send', 'agent:main:main', 'x', '--at', 'soon'], 2, /is not a time; use for example/],
    [['ingest', 'no-such-file', '--format', 'irc', '--channel', 'irc', '--group', 'x'], 2, /cannot read no-such-file/],
    [['replay', 'agent:main:nobody'], 1, /there is no such session/],
    [['status', '--url', 'http://127.0.0.1:65535'], 1, /no answer from http:\/\/127\.0\.0\.1:65535 \(.*ECONNREFUSED.*natter up/],
    [
      ['sessions', '--url', 'http://127.0.0.1:65535'],
      1,
      /no answer from http:\/\/127\.0\.0\.1:65535 \(.*ECONNREFUSED.*natter up/,
    ],
    [['sessions', '--token', 'wrong'], 1, /--token-file/],
    [['sessions', '--token-file', 'no-such-file'], 2, /--token-file: cannot read no-such-file/],
    [['send', 'agent:main:bad', '[[fail BROKEN]]', '--wait'], 1, /BROKEN|asked the offline model to fail/],
  ])('%j ends with code %i and says why', async (args, code, why) => {
    const result = await natter(...args);
    expect(result.code).toBe(code);
    expect(result.stderr + result.stdout).toMatch(why);
  });

  test('--token-file has the token', async () => {
    const file = join(home, 'token');
    const { token } = JSON.parse(readFileSync(join(dataDir, 'gateway.json'), 'utf8')) as { token: string };
    writeFileSync(file, `${token}\n`);
    expect(await natter('sessions', '--token-file', file)).toMatchObject({ code: 0 });
  });

  test('NO_COLOR is kept everywhere, and a terminal that has colours gets them', async () => {
    const commands = ['--help', 'status', 'sessions', 'doctor', 'bogus', 'replay agent:main:nobody'];
    const lines = [...commands, 'replay agent:main:main --diff', 'diff agent:main:main --from 0'];
    for (const line of lines) {
      const { stdout, stderr } = await natterIn({ NO_COLOR: '1', FORCE_COLOR: '1' }, ...line.split(' '));
      expect({ line, text: stdout + stderr }).toEqual({ line, text: expect.not.stringContaining('\u001b') });
    }
    expect((await natterIn({ NO_COLOR: '', FORCE_COLOR: '1' }, 'sessions')).stdout).toContain('\u001b');
  }, 90_000);

  test('bash completes commands, and the keys of the sessions there are', async () => {
    const asked = `natter() { ${packed.natter} "$@"; }
eval "$(natter completions bash)"
complete_() { COMP_LINE="$1" COMP_POINT=\${#1}; _natter natter; echo "\${COMPREPLY[*]}"; }
complete_ 'natter why'; complete_ 'natter send agent:main:wo'; complete_ 'natter approvals list --js'; complete_ 'natter sessions --act'`;
    const { stdout } = await promisify(execFile)('bash', ['-c', asked], { env, cwd: root });
    expect(stdout).toBe('why-reset\nwork\n--json\n--active\n');
  });

  test('inspect --follow prints the transitions of a turn as they happen, in local time; the history in UTC with --utc', async () => {
    const key = 'agent:main:inspected';
    const options = { env: { ...env, TZ: 'Asia/Kolkata' }, cwd: root };
    const following = spawn(packed.natter, ['inspect', key, '--follow'], options);
    const lines: string[] = [];
    createInterface({ input: following.stdout }).on('line', (line) => lines.push(line));
    try {
      expect((await natter('send', key, 'hello', '--wait')).code).toBe(0);
      await vi.waitFor(() => expect(lines.join('\n')).toMatch(/running → idle +turn_completed +turn \S+ attempt 1/));
      expect(lines[0]).toMatch(/^ *\d+\.0 {2}\d{4}-\d\d-\d\dT\S+\+05:30 {2}inactive → idle +session_opened/);
      expect(lines.join('\n')).toMatch(/idle → running +turn_started/);
      following.kill('SIGINT');
      expect(await once(following, 'exit')).toEqual([0, null]);
    } finally {
      following.kill('SIGKILL');
    }
    const { code, stdout } = await natter('inspect', key, '--utc');
    expect(code).toBe(0);
    // Something may have come since.
    expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(lines.length);
    expect(stdout).toMatch(/\d{4}-\d\d-\d\dT\S+Z {2}running → idle +turn_completed/);
  }, 90_000);

  test('a message for later comes later (A10)', async () => {
    expect((await natter('send', 'agent:main:later', 'tick', '--at', '+5s')).stdout).toMatch(/^scheduled /);
    await vi.waitFor(async () => expect((await natter('replay', 'agent:main:later')).code).toBe(0), {
      timeout: 15_000,
      interval: 300,
    });
  });
});

test('A1/7: what older programs left in their session folders is neither read nor listed', async () => {
  await natter('send', 'agent:main:new', 'hello', '--wait');
  for (const args of [['sessions', '--json'], ['status', '--json'], ['doctor', '--json'], ['export']]) {
    const { code, stdout } = await natter(...args);
    expect({ args, code }).toEqual({ args, code: 0 });
    expect(stdout).not.toMatch(/legacy|long ago/);
  }
  expect((await natter('export')).stdout).toContain('You said: hello');
  // Not every file system remembers when a file was read.
  const control = join(home, 'control');
  plant(control);
  readFileSync(control);
  if (wasRead(control)) expect(legacy.flatMap((path) => [path, dirname(path)]).filter(wasRead)).toEqual([]);
});

test('A11/125: with a broker user for each service a sub-agent’s answer comes back, and its delivery ends', async () => {
  const task = JSON.stringify({ task: 'count to three' });
  expect(await natter('send', 'agent:main:boss', `[[tool sessions_spawn ${task}]] begun`, '--wait')).toMatchObject({ code: 0 });
  await vi.waitFor(
    async () => {
      expect((await natter('export', 'agent:main:boss')).stdout).toContain('has ended');
      expect((await natter('deliveries', 'delivered')).stdout).toContain('agent:main:boss');
    },
    { timeout: 20_000, interval: 300 },
  );
});

describe('trouble', () => {
  test('a host killed in mid-turn is started again, and the turn is finished by whoever takes it over (I1)', async () => {
    expect(/hosts {2}(\d+), \d+/.exec(printed.join('\n')), 'the ids of the hosts are told').not.toBeNull();
    const [first = 0, second = 0] = hostPids();
    expect([first, second].every(isAlive)).toBe(true);
    const answer = natter('send', 'agent:main:slow', '[[think 3000]] still there?', '--wait', '60');
    await vi.waitFor(async () => expect((await natter('sessions', '--json')).stdout).toContain('agent:main:slow'), {
      timeout: 15_000,
      interval: 200,
    });
    process.kill(first, 'SIGKILL');
    process.kill(second, 'SIGKILL');
    expect(await answer).toMatchObject({ code: 0, stdout: 'You said: still there?\n' });
    expect((await natter('replay', 'agent:main:slow', '--diff')).stdout).toContain('turn_resumed');
    // Told of with its whole key, whichever it is asked for by.
    expect(JSON.parse((await natter('replay', 'slow', '--json')).stdout)).toMatchObject({
      key: 'agent:main:slow',
      identical: true,
    });
  }, 120_000);

  test('SIGTERM ends everything within 10 s and leaves nothing running', async () => {
    const broker = JSON.parse(readFileSync(join(dataDir, 'broker.json'), 'utf8')) as { servers: string };
    const began = performance.now();
    up.kill('SIGTERM');
    const [code] = await once(up, 'exit');
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(
      logged.filter((line) => line.includes('Violation')),
      'no service tried what it has no right to',
    ).toEqual([]);
    expect(logged.join('\n')).toContain('streams and consumers created');
    expect((await natter('status')).code).toBe(1);
    await expect(fetch(broker.servers.replace('nats:', 'http:'))).rejects.toThrow();
  }, 90_000);
});
