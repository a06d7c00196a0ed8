import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { execTool } from '../../../../services/session/tools/exec.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { checkEnvironment, programEnvironment } from '../../../../shared/kit/process/environment.ts';
import { calling, parsed } from './calling.ts';

let folder: string;
/** Where the system's temporary folders are meanwhile. */
let temporary: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'natter-test-')));
  temporary = await realpath(await mkdtemp(join(tmpdir(), 'natter-test-')));
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const made of [folder, temporary]) await rm(made, { recursive: true, force: true });
});

const env = { PATH: process.env.PATH, LANG: 'de_DE.UTF-8', HOME: '/home', WANTED: 'yes', HIDDEN: 'no', NATTER_TOKEN: 't' };
const toolWith = ({
  timeoutMs = 20_000,
  environment = [] as string[],
  workspace = undefined as string | undefined,
  clock = systemClock,
} = {}) => execTool({ exec: { enabled: true, environment, timeoutMs }, workspace, env, clock });
const exec = (given: unknown, options: Parameters<typeof toolWith>[0] = {}, signal = new AbortController().signal) =>
  calling([toolWith(options)])('exec', given, { signal });
/** Runs a script of this runtime, which is sure to be there. */
const script = (code: string, ...args: string[]) => ({ command: [process.execPath, '-e', code, ...args] });
/** A process that has ended and that nobody has asked after yet does not count. */
const runs = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
};
const leftovers = () => readdirSync(temporary);

describe('a program', () => {
  test('A5/62: is asked about each time, and is not idempotent', () => {
    expect(toolWith()).toMatchObject({ name: 'exec', usual: 'ask', onceOnly: true, idempotent: false });
  });
  test('its output and exit code come back, errors too', async () => {
    const code = 'process.stdout.write("out\\n", () => process.stderr.write("err\\n", () => process.exit(0)))';
    expect(await exec(script(code))).toEqual({
      outcome: 'ok',
      text: expect.stringMatching(/^\[exit code 0\]\n(out\nerr|err\nout)\n$/),
    });
    expect(await exec(script('process.exit(7)'))).toEqual({ outcome: 'error', text: '[exit code 7]\n' });
    expect(await exec(script('process.kill(process.pid, "SIGKILL")'))).toEqual({
      outcome: 'error',
      text: '[ended by SIGKILL]\n',
    });
  });
  test('I12: no shell reads its arguments', async () => {
    const given = ['$(id)', '`id`', ';id', '| id', '$HOME', '*', '~', '"', "'", '\\', '', 'ä'];
    const { text } = await exec(script('console.log(JSON.stringify(process.argv.slice(1)))', ...given));
    expect(JSON.parse(text.split('\n')[1] ?? '')).toEqual(given);
    expect(await exec({ command: ['echo a; echo b'] })).toEqual({
      outcome: 'error',
      text: 'command.0: "echo a; echo b": there is no such program',
    });
  });
  test('it has nothing to read and no terminal', async () => {
    expect(await exec(script('process.stdin.on("end", () => console.log("end")).resume()'))).toEqual({
      outcome: 'ok',
      text: '[exit code 0]\nend\n',
    });
  });
  test('a file that cannot be run is told', async () => {
    await writeFile(join(folder, 'x'), 'x');
    expect(await exec({ command: [join(folder, 'x')] })).toEqual({
      outcome: 'error',
      text: expect.stringContaining('it does not start: EACCES'),
    });
  });
});

describe('I12: what a program gets to know', () => {
  const print = script('console.log(JSON.stringify([process.env, process.cwd()]))');
  const seen = async (options: Parameters<typeof toolWith>[0]): Promise<[Record<string, string>, string]> =>
    JSON.parse((await exec(print, options)).text.split('\n')[1] ?? '');

  test('PATH, LANG, a HOME of its own and the variables that are named, and none else', async () => {
    const [given, cwd] = await seen({ environment: ['WANTED', 'UNSET'] });
    expect(given).toEqual({ PATH: process.env.PATH, LANG: 'de_DE.UTF-8', HOME: cwd, WANTED: 'yes' });
    expect(cwd).toContain('natter-exec-');
  });
  test('it runs in the workspace, and its HOME is elsewhere', async () => {
    const [given, cwd] = await seen({ workspace: folder });
    expect(cwd).toBe(folder);
    expect(given.HOME).not.toBe(folder);
  });
  test('its HOME is gone afterwards, whatever is in it', async () => {
    await exec(
      script(
        'const fs = require("fs"); fs.mkdirSync(process.env.HOME + "/a/b", { recursive: true }); fs.symlinkSync("/", process.env.HOME + "/link")',
      ),
    );
    expect(leftovers()).toEqual([]);
  });
  test('relative entries of PATH are left out', () => {
    expect(programEnvironment({ PATH: '.:/usr/bin::bin:/bin' }, [], '/h')).toEqual({
      PATH: '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      HOME: '/h',
    });
    expect(programEnvironment({}, [], '/h').PATH).toBe('/usr/local/bin:/usr/bin:/bin');
  });
  test.each([
    'NODE_OPTIONS',
    'node_options',
    'NODE_PATH',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'DYLD_INSERT_LIBRARIES',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'BASH_ENV',
    'BASH_FUNC_x%%',
    'ENV',
    'IFS',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT',
    'OPENSSL_CONF',
    'MAKEFLAGS',
    'GOFLAGS',
    'RUSTC_WRAPPER',
    'SSH_ASKPASS',
    'XDG_CONFIG_HOME',
    'R_PROFILE_USER',
    'MAVEN_OPTS',
    'PIP_INDEX_URL',
    'UV_INDEX_URL',
    'GTK_MODULES',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    'PATH',
    'HOME',
    'LANG',
    'NATTER_TOKEN',
    'A=B',
    '',
    '__proto__ ',
    'npm_config_registry',
  ])('the variable %j is refused from the start', (name) => {
    const refused = () => checkEnvironment(['FINE', name], 'tools.exec.environment');
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid', field: 'tools.exec.environment[1]' }));
    expect(() => toolWith({ environment: [name] })).toThrow(/^tools\.exec\.environment\[0\]: ".*" .*(remove it|use letters)/);
  });
});

describe('a program ends', () => {
  /** The time of a call is over once the file is there; the time to end in goes by `faster`. */
  const overAt = (file: string, faster = 1): Clock => ({
    ...systemClock,
    sleep: async (ms, signal) => {
      if (ms <= limits.programGraceMs) return systemClock.sleep(ms / faster, signal);
      while (!existsSync(join(folder, file)) && !signal?.aborted) await systemClock.sleep(10);
    },
  });
  /** Starts something in the background that ignores SIGTERM and holds the output open, writes its pid to a file, and goes on or ends. */
  const withGrandchild = (then: string) =>
    script(
      `const { spawn } = require('child_process');
       const code = 'process.on("SIGTERM", () => {}); console.log("grandchild"); require("fs").writeFileSync(process.argv[1], String(process.pid)); setTimeout(() => {}, 15000)';
       spawn(process.execPath, ['-e', code, process.argv[1]], { stdio: 'inherit' }).unref();
       const wait = setInterval(() => { if (require('fs').existsSync(process.argv[1])) { clearInterval(wait); ${then} } }, 10);`,
      join(folder, 'pid'),
    );
  const grandchild = async () => Number(await readFile(join(folder, 'pid'), 'utf8'));

  test('I11: when its time is over, with all that it has started', async () => {
    const stubborn = withGrandchild('process.on("SIGTERM", () => {}); setTimeout(() => {}, 15000)');
    const end = await exec(stubborn, { clock: overAt('pid', 10) });
    expect(end).toEqual({ outcome: 'error', text: '[stopped after 20000 ms]\ngrandchild\n' });
    const pid = await grandchild();
    await vi.waitFor(() => expect(runs(pid)).toBe(false));
  });
  test('I11: nothing of it goes on in the background, nor keeps the call open', async () => {
    const end = await exec(withGrandchild('process.exit(0)'));
    expect(end).toEqual({ outcome: 'ok', text: '[exit code 0]\ngrandchild\n' });
    const pid = await grandchild();
    await vi.waitFor(() => expect(runs(pid)).toBe(false));
  });
  test('A11/125: when its turn is stopped, with all that it has started', async () => {
    const stop = new AbortController();
    const end = exec(withGrandchild('setTimeout(() => {}, 15000)'), { clock: overAt('never', 10) }, stop.signal);
    const rejected = expect(end).rejects.toThrow('stopped by a person');
    const pid = await vi.waitFor(async () => {
      const written = await grandchild();
      expect(written).toBeGreaterThan(0);
      return written;
    });
    stop.abort(new Error('stopped by a person'));
    await rejected;
    await vi.waitFor(() => expect(runs(pid)).toBe(false));
    expect(leftovers()).toEqual([]);
  });
  test('A11/125: a call that is stopped before it begins does not begin', async () => {
    const code = script('require("fs").writeFileSync(process.argv[1], "")', join(folder, 'ran'));
    await expect(exec(code, {}, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(readdirSync(folder)).toEqual([]);
  });
  test('politely first: SIGTERM lets it tidy up', async () => {
    const code =
      'process.on("SIGTERM", () => { console.log("tidied up"); process.exit(0); }); require("fs").writeFileSync(process.argv[1], ""); setTimeout(() => {}, 15000)';
    const end = await exec(script(code, join(folder, 'ready')), { clock: overAt('ready') });
    expect(end).toEqual({ outcome: 'error', text: '[stopped after 20000 ms]\ntidied up\n' });
  });
  test('a call cannot give itself more time than is configured', async () => {
    const end = await exec({ ...script('setTimeout(() => {}, 15000)'), timeoutMs: 3_000_000 }, { timeoutMs: 300 });
    expect(end).toEqual({ outcome: 'error', text: '[stopped after 300 ms]\n' });
  });
});

test('I11: of too much output the beginning and the end are kept, and a program that never stops writing is stopped', async () => {
  const end = await exec(script('console.log("first"); process.stdout.write("ä".repeat(1e6)); console.log("\\nlast")'));
  expect(end.text).toMatch(/^\[exit code 0\]\nfirst\nä+\ufffd*\n\[\d+ bytes are left out here\]\n\ufffd?ä+\nlast\n$/);
  expect(Buffer.byteLength(end.text)).toBeLessThan(limits.programOutputBytes + 200);
  const endless = await exec({ ...script('const go = () => process.stdout.write("x".repeat(65536), go); go()'), timeoutMs: 700 });
  expect(endless.text).toMatch(/^\[stopped after 700 ms\]\nx+\n\[\d+ bytes are left out here\]\nx+$/);
  expect(Buffer.byteLength(endless.text)).toBeLessThan(limits.programOutputBytes + 200);
});

describe('arguments', () => {
  test.each([
    ['{}', /command: /],
    ['{"command":"ls"}', /command: /],
    ['{"command":[]}', /command: is empty/],
    ['{"command":[""]}', /command: begins with an empty text/],
    ['{"command":["ls",7]}', /command\.1: /],
    ['{"command":["ls","a\\u0000b"]}', /command\.1: contains a zero character/],
    ['{"command":["ls"],"timeoutMs":1}', /timeoutMs: /],
    ['{"command":["ls"],"cwd":"/"}', /"cwd" is not an argument/],
    ['{"command":["ls"],"__proto__":{"shell":true}}', /"__proto__" is not an argument/],
    ['[["ls"]]', /the arguments: /],
  ])('%s names the field', async (json, error) => {
    expect(await exec(parsed(json))).toEqual({ outcome: 'error', text: expect.stringMatching(error) });
  });
});

test('a program is given up from outside only after it has been ended and its output read', () => {
  const { timeoutMs = 0 } = toolWith({ timeoutMs: 5_000 });
  expect(timeoutMs).toBeGreaterThan(5_000 + 2 * limits.programGraceMs);
});
