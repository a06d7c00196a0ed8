import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createMcp } from '../../../../shared/adapters/mcp/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { ToolScope } from '../../../../shared/ports/tools.ts';
import { keyOf } from '../../../support/domain/commits.ts';

const program = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));
const scope: ToolScope = {
  key: keyOf('agent:main:main'),
  sessionId: 's1',
  turn: { id: 't1', attempt: 1 },
  sender: { id: 'ann', role: 'owner' },
};
const canary = 'canary "4711" secret';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
const started = async (server: object, env: Record<string, string> = {}) => {
  const { mcp: config } = configSchema.parse({ mcp: { servers: { bad: server }, startMs: 5_000 } });
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  const mcp = await createMcp(config, {
    ...{ env: { PATH: process.env.PATH, ...env }, log, version: '0', timeoutMs: 5_000 },
    clock: systemClock,
  });
  closers.push(() => mcp.close());
  await mcp.started;
  const tools = () => mcp.of(scope);
  const call = (name: string, given: unknown = {}) => {
    const tool = tools().find((each) => each.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}: ${mcp.problems().join()}`);
    return tool.run({ callId: 'c1', arguments: given, scope }, new AbortController().signal);
  };
  return { mcp, logged, tools, call };
};
const hostile = (mode = 'plain') => ({ command: process.execPath, args: [program, mode] });

describe('a hostile program', () => {
  test('A5/62: a person sees that a part of the arguments is left out, however they are written', async () => {
    const { tools } = await started(hostile());
    const hidden = { note: '\u200b'.repeat(500), to: 'evil@example.org' };
    const action =
      tools()
        .find(({ name }) => name === 'bad__echo')
        ?.describe(hidden) ?? '';
    expect(action.length).toBeLessThanOrEqual(2_000);
    expect(action).toMatch(/ … \d+ characters … /);
    expect(action).toContain('evil@example.org');
  });

  test('what is no Unicode does not come through', async () => {
    const { call } = await started(hostile());
    expect(await call('bad__surrogate')).toEqual({ outcome: 'ok', text: 'a\ufffdb' });
  });

  test.each(['answers', 'garbage'])('I11: that floods us with %s that nobody asked for is cut off', async (mode) => {
    const { mcp, call } = await started(hostile(mode));
    expect(await call('bad__flood')).toMatchObject({ outcome: 'error' });
    await vi.waitFor(() => expect(mcp.problems()).toEqual([expect.stringContaining('unsolicited')]), {
      timeout: 10_000,
      interval: 1,
    });
  });

  test('I11: that floods us with what is no JSON is cut off too', async () => {
    const { mcp, call } = await started(hostile('words'));
    expect(await call('bad__flood')).toMatchObject({ outcome: 'error' });
    await vi.waitFor(() => expect(mcp.problems()).toEqual([expect.stringContaining('bytes without a message')]), {
      timeout: 10_000,
      interval: 1,
    });
  });

  test('I7: no other tool of it takes the name of one that was approved', async () => {
    const { tools } = await started(hostile('names'));
    const described = new Map(tools().map((tool) => [tool.name, tool.describe({})]));
    expect(described.size).toBe(2);
    const dotted = [...described].find(([, words]) => words.includes('"a.b"'))?.[0];
    expect((await started(hostile('names-later'))).tools().map(({ name }) => name)).not.toContain(dotted);
  });

  test('I12: its words in errors do not have what it was given', async () => {
    const { call, mcp, logged } = await started({ ...hostile('echo'), environment: ['CANARY'] }, { CANARY: canary });
    const end = await call('bad__fail');
    await vi.waitFor(() => expect(logged.join()).toContain('xxx'));
    expect(end).toMatchObject({ outcome: 'error', text: expect.stringContaining('the secret is [secret]') });
    expect(JSON.stringify([end, mcp.problems(), logged])).not.toContain('4711');
  });
});

describe('a hostile address', () => {
  const serve = async (
    answer: (headers: Record<string, unknown>) => { status: number; headers?: Record<string, string>; body?: string },
  ) => {
    const asked: Record<string, unknown>[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers);
      const { status, headers = {}, body = '' } = answer(request.headers);
      response.writeHead(status, headers).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked };
  };

  test.each([302, 307, 308])('I12: a redirect (%s) does not get the headers', async (status) => {
    const elsewhere = await serve(() => ({ status: 500 }));
    const { url, asked } = await serve(() => ({ status, headers: { location: elsewhere.url } }));
    const { mcp } = await started({ url, headersEnv: { 'x-api-key': 'CANARY' } }, { CANARY: 'canary-4711' });
    await vi.waitFor(() => expect(mcp.problems()).toHaveLength(1));
    expect(asked.length).toBeGreaterThan(0);
    expect(JSON.stringify(elsewhere.asked)).not.toContain('4711');
  });

  test('I12: what it says of its headers is told to nobody', async () => {
    const { url } = await serve((headers) => ({ status: 500, body: `wrong key ${String(headers['x-api-key'])}` }));
    const { mcp, logged } = await started({ url, headersEnv: { 'x-api-key': 'CANARY' } }, { CANARY: 'canary-4711' });
    await vi.waitFor(() => expect(mcp.problems()[0]).toContain('wrong key [secret]'));
    expect(JSON.stringify([mcp.problems(), logged])).not.toContain('4711');
  });
});
