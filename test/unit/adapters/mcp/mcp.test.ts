import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import JSON5 from 'json5';
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createMcp, type McpSource } from '../../../../shared/adapters/mcp/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { Tool, ToolEnd, ToolScope } from '../../../../shared/ports/tools.ts';
import { keyOf } from '../../../support/domain/commits.ts';

const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const odd = fileURLToPath(new URL('odd-server.mjs', import.meta.url));
const everythingServer = { command: process.execPath, args: [everything, 'stdio'] };
const oddServer = (mode: string) => ({ command: process.execPath, args: [odd, mode] });

const scope: ToolScope = {
  key: keyOf('agent:main:main'),
  sessionId: 's1',
  turn: { id: 't1', attempt: 1 },
  sender: { id: 'ann', role: 'owner' },
};

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Options {
  readonly env?: Record<string, string>;
  readonly startMs?: number;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}
interface Begun {
  readonly mcp: McpSource;
  readonly logged: string[];
  tool(name: string): Tool;
  names(): string[];
  call(name: string, given?: unknown, signal?: AbortSignal): Promise<ToolEnd>;
}
const begin = async (servers: Record<string, object>, options: Options = {}): Promise<Begun> => {
  const { env = {}, startMs = 10_000, timeoutMs = 5_000, clock = systemClock } = options;
  const { mcp: config } = configSchema.parse({ mcp: { servers, startMs } });
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  const mcp = await createMcp(config, { env: { PATH: process.env.PATH, ...env }, log, clock, version: '0', timeoutMs });
  closers.push(() => mcp.close());
  const tool = (name: string): Tool => {
    const found = mcp.of(scope).find((each) => each.name === name);
    if (found === undefined) throw new Error(`no tool ${name}: ${mcp.problems().join()}`);
    return found;
  };
  return {
    mcp,
    logged,
    tool,
    names: () => mcp.of(scope).map(({ name }) => name),
    call: (name, given = {}, signal = new AbortController().signal) =>
      tool(name).run({ callId: 'c1', arguments: given, scope }, signal),
  };
};
const started = async (servers: Record<string, object>, options?: Options): Promise<Begun> => {
  const begun = await begin(servers, options);
  await begun.mcp.started;
  return begun;
};
/** The environment and the process of the server with all the features. */
const environmentOf = async ({ call }: Begun): Promise<Record<string, string>> => JSON.parse((await call('all__get-env')).text);

describe('a server as a program', () => {
  test('offers its tools, each asked about whatever its hints say, and is called', async () => {
    const { call, mcp, tool } = await started({ all: everythingServer });
    expect(mcp.problems()).toEqual([]);
    expect(tool('all__get-sum')).toMatchObject({
      usual: 'ask',
      idempotent: false,
      parameters: { type: 'object', required: ['a', 'b'] },
    });
    expect(await call('all__echo', { message: 'hi' })).toEqual({ outcome: 'ok', text: 'Echo: hi' });
    expect(await call('all__get-sum', { a: 'x' })).toMatchObject({ outcome: 'error', text: expect.stringContaining('number') });
    expect(await call('all__echo', 'hi')).toEqual({ outcome: 'error', text: 'wrong arguments: use an object' });
    expect((await call('all__get-tiny-image')).text).toMatch(/\[image, image\/png, \d+ bytes: not shown\]/);
    expect(tool('all__echo').describe({ message: 'a\nb\u202e' })).toBe(
      'call "echo" of the MCP server all with {"message":"a\\nb\\u{202e}"}',
    );
    expect(tool('all__echo').describe({ message: 'x'.repeat(100_000) }).length).toBeLessThan(1_500);
  });

  test('I12: knows of our environment only what the configuration names', async () => {
    const server = { ...everythingServer, environment: ['GIVEN'] };
    const begun = await started({ all: server }, { env: { GIVEN: 'for you', SECRET_TOKEN: 'not for you', HOME: '/tmp' } });
    const given = await environmentOf(begun);
    expect(Object.keys(given).sort()).toEqual(['GIVEN', 'HOME', 'LANG', 'PATH']);
    await expect(begin({ all: { ...everythingServer, environment: ['NODE_OPTIONS'] } })).rejects.toThrow(
      expect.objectContaining({ code: 'invalid', field: 'mcp.servers.all.environment[0]' }) as NatterError,
    );
  });

  test('B29: that dies during a call gives an error, is begun again and works', async () => {
    const begun = await started({ all: everythingServer });
    const { call, mcp, names } = begun;
    const offered = names();
    const pid = pidOf(begun);
    const calling = call('all__trigger-long-running-operation', { duration: 60, steps: 1 });
    process.kill(pid, 'SIGKILL');
    expect(await calling).toMatchObject({ outcome: 'error', text: expect.stringContaining('lost during the call') });
    await vi.waitFor(() => expect(mcp.problems()).toEqual([expect.stringContaining('mcp.servers.all: ')]));
    expect(names()).toEqual(offered);
    expect(await call('all__echo', { message: 'hi' })).toMatchObject({
      outcome: 'error',
      text: expect.stringContaining('not connected'),
    });
    await vi.waitFor(() => expect(mcp.problems()).toEqual([]));
    expect(await call('all__echo', { message: 'again' })).toEqual({ outcome: 'ok', text: 'Echo: again' });
    expect(pidOf(begun)).not.toBe(pid);
  });

  test('that dies each time soon after it came up is one problem until it lasts', async () => {
    const { mcp, logged } = await begin({ odd: oddServer('brief') });
    const connections = () => logged.filter((line) => line.includes('MCP server is connected')).length;
    await vi.waitFor(() => expect(mcp.problems()).toHaveLength(1), { interval: 1 });
    const problems = new Set<number>();
    const look = () => {
      problems.add(mcp.problems().length);
      expect(connections()).toBeGreaterThan(3);
    };
    await vi.waitFor(look, { interval: 1, timeout: 20_000 });
    expect([...problems]).toEqual([1]);
  });

  test('that does not exist is a problem that names the field, and stops nobody', async () => {
    const { mcp, call } = await started({ gone: { command: 'no-such-program-anywhere' }, all: everythingServer });
    expect(mcp.problems()).toEqual([
      'mcp.servers.gone.command: "no-such-program-anywhere": there is no such program; install it or give its path',
    ]);
    expect(await call('all__echo', { message: 'hi' })).toMatchObject({ outcome: 'ok' });
  });

  test('that never answers is a problem once its time is over, not before', async () => {
    const { mcp } = await begin({ mute: oddServer('silent') }, { startMs: 600 });
    expect(mcp.problems()).toEqual([]);
    await vi.waitFor(() => expect(mcp.problems()).toHaveLength(1));
    expect(mcp.problems()[0]).toMatch(/^mcp\.servers\.mute: /);
    expect(mcp.of(scope)).toEqual([]);
  });

  test('of before 2026 that ends at a question it does not know is asked the older way', async () => {
    const { names } = await begin({ old: oddServer('strict') });
    await vi.waitFor(() => expect(names()).toContain('old__wait'));
  });

  test('I11: that floods is cut off, and everybody else goes on', async () => {
    const { mcp, call } = await started({ loud: oddServer('calls'), all: everythingServer });
    const talking = call('loud__talk');
    expect(await talking).toMatchObject({ outcome: 'error' });
    await vi.waitFor(() => expect(mcp.problems()).toEqual([expect.stringContaining('unsolicited')]), { interval: 1 });
    expect(await call('all__echo', { message: 'hi' })).toMatchObject({ outcome: 'ok' });
    expect(await call('loud__huge').catch((error) => error)).toMatchObject({ outcome: 'error' });
  });

  test('I11: writes a bounded part of its error output into our log, without what it was given', async () => {
    const token = 'odd-secret-value';
    const { logged } = await started(
      { odd: { ...oddServer('stderr'), environment: ['ODD_TOKEN'] } },
      { env: { ODD_TOKEN: token } },
    );
    const lines = () => logged.map((line) => JSON.parse(line)).filter(({ line }) => line !== undefined);
    await vi.waitFor(() => expect(lines()).toHaveLength(limits.mcpLogLines));
    expect(logged.join('')).not.toContain(token);
    expect(lines()[0]).toMatchObject({ server: 'odd', line: expect.stringMatching(/^line 0 \[secret\] x+$/) });
    expect(Math.max(...logged.map((line) => line.length))).toBeLessThan(limits.mcpLogCharacters + 300);
  });

  test('I6: a call that takes too long, and one that is stopped, are taken back', async () => {
    const hurried = await started({ odd: oddServer('calls') }, { timeoutMs: 200 });
    expect(await hurried.call('odd__wait')).toEqual({
      outcome: 'error',
      text: 'the MCP server odd gave no answer within 200 ms; whether the call had an effect is not known',
    });
    const { call } = await started({ odd: oddServer('calls') });
    const stop = new AbortController();
    const stopped = call('odd__wait', {}, stop.signal);
    // Answers come in order: by now the server has the call.
    await call('odd__cancelled');
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    await vi.waitFor(async () => expect(JSON.parse((await call('odd__cancelled')).text)).toEqual(['Error: stopped']));
    // Such a question may itself take too long, and is taken back then.
    await vi.waitFor(async () => expect((await hurried.call('odd__cancelled')).text).toContain('timed out'));
  });

  test('its process group is gone once we close', async () => {
    const begun = await started({ all: everythingServer });
    const pid = pidOf(begun);
    await begun.mcp.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('the list of tools', () => {
  test('has all pages, in names that every provider takes, and says what is left out', async () => {
    const { names, mcp, tool, call } = await started({ odd: oddServer('lists') });
    expect(names().slice(0, 2)).toEqual(['odd__one', 'odd__two']);
    expect(names().slice(2)).toEqual([
      expect.stringMatching(/^odd__three_dots_[0-9a-f]{8}$/),
      expect.stringMatching(/^odd__three_dots_[0-9a-f]{8}$/),
      expect.stringMatching(/^odd__x{50}_[0-9a-f]{8}$/),
    ]);
    expect(new Set(names()).size).toBe(5);
    expect(mcp.problems()).toEqual([expect.stringMatching(/^mcp\.servers\.odd: the tool "big" is left out: .* 16384 bytes$/)]);
    expect(tool('odd__one').description).toBe('First [31mtool');
    expect(await call('odd__two')).toEqual({ outcome: 'ok', text: '{"answer":42}' });
  });

  test('is read again when it changes', async () => {
    const { names, call } = await started({ odd: oddServer('lists') });
    expect(await call('odd__one')).toEqual({ outcome: 'error', text: 'no' });
    await vi.waitFor(() => expect(names()).toContain('odd__grown'));
  });

  test('I11: is bounded', async () => {
    const { names, mcp } = await started({ odd: oddServer('many'), endless: oddServer('endless') });
    expect(names()).toHaveLength(limits.mcpTools);
    expect(mcp.problems()).toEqual([
      `mcp.servers.odd: only ${limits.mcpTools} of 500 tools are offered`,
      expect.stringMatching(/^mcp\.servers\.endless: .*listMaxPages/),
    ]);
  });

  test('what is no text is named by type and size', async () => {
    const { call } = await started({ odd: oddServer('calls') });
    expect((await call('odd__sizes')).text.split('\n')).toEqual([
      '[image, image/png, 10 bytes: not shown]',
      'inside',
      '[resource file:///b, of unknown type, 7 bytes: not shown]',
      '[link to file:///c: C]',
    ]);
  });
});

describe('a server at an address', () => {
  test('is called with its headers, found dead, and taken up again when it is back', async () => {
    const port = await freePort();
    let server = await serve(port);
    const remote = { url: `http://127.0.0.1:${port}/mcp`, headersEnv: { authorization: 'REMOTE_TOKEN' } };
    const { call, mcp } = await started({ far: remote }, { env: { REMOTE_TOKEN: 'Bearer x' } });
    expect(await call('far__echo', { message: 'hi' })).toEqual({ outcome: 'ok', text: 'Echo: hi' });
    server.kill('SIGKILL');
    await once(server, 'exit');
    expect(await call('far__echo', { message: 'hi' })).toMatchObject({ outcome: 'error' });
    await vi.waitFor(() => expect(mcp.problems()).toEqual([expect.stringContaining('mcp.servers.far: ')]));
    server = await serve(port);
    await vi.waitFor(() => expect(mcp.problems()).toEqual([]));
    expect(await call('far__echo', { message: 'hi' })).toEqual({ outcome: 'ok', text: 'Echo: hi' });
  });

  test('whose header has no value is a problem that names the field and the variable', async () => {
    const { mcp } = await started({ far: { url: 'http://127.0.0.1:9/mcp', headersEnv: { authorization: 'NOT_SET' } } });
    expect(mcp.problems()).toEqual([
      'mcp.servers.far.headersEnv.authorization: the environment variable NOT_SET is not set; set it or remove the header',
    ]);
  });
});

/** The process of the server with all the features that was connected last. */
const pidOf = ({ logged }: Begun): number =>
  logged.map((line) => JSON.parse(line)).findLast(({ server, child }) => server === 'all' && child !== undefined)?.child;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const serve = async (port: number) => {
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  closers.push(async () => void child.kill('SIGKILL'));
  for await (const chunk of child.stderr) if (String(chunk).includes('listening')) break;
  return child;
};

test('the example in docs/use/mcp-servers.md is a configuration', () => {
  const page = readFileSync(new URL('../../../../docs/use/mcp-servers.md', import.meta.url), 'utf8');
  const [, example = ''] = /```json5\n([\s\S]*?)```/.exec(page) ?? [];
  expect(configSchema.parse(JSON5.parse(example)).mcp.servers.files?.command).toBe('npx');
  expect(() => configSchema.parse({ mcp: { servers: { a__b: { command: 'x' } } } })).toThrow('without');
});
