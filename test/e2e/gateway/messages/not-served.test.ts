import { expect, test, vi } from 'vitest';
import { type HealthCode, HealthProblem } from '../../../../shared/kit/health-problem.ts';
import { overHttp, use } from '../protocols/mcp-rig.ts';
import { type Call, callerOf, openBroker, openGateway, pathOf, ready, token } from '../setup.ts';
import { connect } from '../websocket/websocket-client.ts';

/** A gateway whose broker cannot do all that it should: what is served, and what the others are told. */
const open = async () => {
  let problems: HealthProblem[] = [];
  const gateway = await openGateway({ ...openBroker().portsFor('gateway'), problems: () => problems });
  const call = callerOf(gateway.url);
  await ready(call);
  const become = (code: HealthCode | null): void => {
    problems = code === null ? [] : [new HealthProblem(code, 'the disk is full', 'free some space')];
  };
  return { gateway, call, become };
};
const rpc = (call: Call, method: string, params = {}) => call('POST', '/v1/rpc', { body: { method, params } });
const send = { sessionKey: 'agent:main:main', message: 'x' };
const refusal = { code: 'unavailable', problem: 'storage_full', fix: 'free some space' };

test('a full disk refuses what changes something, with its code and the fix, and still serves what is there', async () => {
  const { call, become } = await open();
  become('storage_full');
  const readiness = await call('GET', '/readyz');
  expect(readiness).toMatchObject({ status: 503, body: { status: 'unavailable', problems: ['the disk is full'] } });
  expect(readiness.body.details).toEqual([{ code: 'storage_full', message: 'the disk is full', fix: 'free some space' }]);

  const written = await call('POST', pathOf('agent:main:main', '/messages'), { body: { text: 'x' } });
  expect(written).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
    body: { ...refusal, detail: 'the disk is full' },
  });
  expect(await rpc(call, 'chat.send', send)).toMatchObject({ status: 503, body: refusal });

  expect((await call('GET', '/livez')).status).toBe(200);
  expect((await call('GET', '/v1/sessions')).status).toBe(200);
  const status = await rpc(call, 'status');
  expect(status.body).toMatchObject({ ok: true, result: { status: 'unavailable', details: readiness.body.details } });
  become(null);
  expect((await call('GET', '/readyz')).body).toEqual({ status: 'ready', problems: [], details: [] });
});

test('WebSockets and MCP name the same problem', async () => {
  const { gateway, become } = await open();
  const socket = await connect(gateway.url);
  const client = await overHttp(gateway.url, token);
  become('storage_full');
  const refused = await socket.call('chat.send', send);
  expect(refused).toMatchObject({ ok: false, error: { ...refusal, message: 'the disk is full' } });
  expect(await socket.call('sessions.list')).toMatchObject({ ok: true });
  expect(await use(client, 'sessions_send', { sessionKey: 'main', message: 'x' })).toBe(
    'unavailable: the disk is full (storage_full: free some space)',
  );
  expect(await use(client, 'sessions_list')).toMatchObject({ sessions: [] });
});

test('a log that went back stops reading too: what it has cannot be relied on', async () => {
  const { call, become } = await open();
  become('log_went_back');
  expect(await call('GET', '/v1/sessions')).toMatchObject({ status: 503, body: { problem: 'log_went_back' } });
  expect(await rpc(call, 'sessions.list')).toMatchObject({ status: 503, body: { problem: 'log_went_back' } });
});

test('the process is as ready as its other services, and a gateway that stops is not ready', async () => {
  let stalled = true;
  const delivery = {
    name: 'delivery',
    problems: () => (stalled ? [new HealthProblem('work_stalled', 'delivery: it has stalled')] : []),
    metrics: () => ({}),
    stop: async () => {},
  };
  const gateway = await openGateway(openBroker().portsFor('gateway'), [delivery]);
  const call = callerOf(gateway.url);
  await vi.waitFor(async () => expect((await call('GET', '/readyz')).body.problems).toEqual(['delivery: it has stalled']));
  expect((await call('GET', '/v1/sessions')).status).toBe(200);
  stalled = false;
  await ready(call);
  await gateway.stop(1_000);
  expect(gateway.problems()).toEqual([expect.objectContaining({ code: 'stopping' })]);
});
