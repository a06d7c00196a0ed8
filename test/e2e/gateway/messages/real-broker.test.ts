import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startCheckpoint } from '../../../../services/checkpoint/main.ts';
import { startSession } from '../../../../services/session/main.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { startMiniHost } from '../../../support/mini-host.ts';
import { startServer, type TestServer } from '../../../support/nats.ts';
import { portsOn, provisionFor } from '../../../support/system.ts';
import { afterwards, callerOf, openGateway, openStream, pathOf, ready } from '../setup.ts';

const key = 'agent:main:main';
const config = configSchema.parse({ nats: { partitions: 4, requestTimeoutMs: 500 } });

const prepare = async (server: TestServer): Promise<void> => {
  await provisionFor(server, { prefix: config.prefix, partitions: config.nats.partitions });
};

test('on a real broker that is killed and started again: 503 meanwhile, then all goes on, and an open stream has no gap or repeat', async () => {
  const server = await startServer();
  afterwards(() => server.stop());
  await prepare(server);
  const opened = portsOn(server, config);
  afterwards(() => opened.close());
  const hosts = await opened.as('tester');
  const host = await startMiniHost(hosts);
  afterwards(() => host.close());
  const gateway = await openGateway(await opened.as('gateway'));
  const call = callerOf(gateway.url);
  await ready(call);
  const say = (text: string, id: string) =>
    call('POST', pathOf(key, '/messages?wait=20'), { body: { text }, headers: { 'idempotency-key': id } });

  const stream = await openStream(gateway.url, '/v1/events?after=0');
  expect((await say('one', '1')).body).toMatchObject({ status: 'ok', reply: 'you said: one' });
  expect((await say('one', '1')).body).toMatchObject({ status: 'ok', reply: 'you said: one' });

  await server.kill9();
  await vi.waitFor(async () => expect((await call('GET', '/readyz')).status).toBe(503));
  const refused = await say('two', '2');
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'unavailable' } });
  await server.restart();
  await ready(call);
  await vi.waitFor(() => expect(hosts.problems()).toEqual([]));
  expect((await say('two', '2')).body).toMatchObject({ status: 'ok', reply: 'you said: two' });

  const { events } = (await call('GET', '/v1/events?limit=1000')).body;
  expect(events.filter(({ type }: { type: string }) => type === 'assistant_message')).toHaveLength(2);
  await vi.waitFor(() => expect(stream.messages).toHaveLength(events.length));
  expect(stream.messages.map(({ id }) => id)).toEqual(events.map(({ id }: { id: string }) => id));

  await server.restart({ empty: true });
  await vi.waitFor(async () => {
    const { status, body } = await call('POST', pathOf(key, '/messages'), { body: { text: 'three' } });
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
  });
  expect((await call('GET', '/livez')).status).toBe(200);
});

test('A5/62, I6: a call that waits for a person outlives every host; the answer from another terminal lets it run once', async () => {
  const server = await startServer();
  afterwards(() => server.stop());
  await prepare(server);
  const workspace = mkdtempSync(join(tmpdir(), 'natter-real-'));
  afterwards(async () => rmSync(workspace, { recursive: true, force: true }));
  const asking = configSchema.parse({
    ...config,
    agent: { workspace },
    tools: { rules: [{ tool: 'write_file', action: 'ask' }] },
  });
  const log = pino({ level: 'silent' });
  const opened = portsOn(server, asking);
  afterwards(() => opened.close());
  const startHost = async (member: string) =>
    startSession({ config: asking, ports: await opened.as('session'), log, member, env: {} });
  const projection = await startCheckpoint({ ports: await opened.as('checkpoint'), log, member: 'checkpoint' });
  afterwards(() => projection.stop(1_000));
  const call = callerOf((await openGateway(await opened.as('gateway'))).url);
  await ready(call);

  const first = await startHost('first');
  const text = '[[tool write_file {"path":"note.md","content":"x"}]] done?';
  const { runId } = (await call('POST', pathOf(key, '/messages'), { body: { text } })).body;
  const run = async (wait = '') => (await call('GET', pathOf(key, `/runs/${runId}${wait}`))).body;
  await vi.waitFor(async () => expect((await run()).status).toBe('awaiting_approval'));
  const { approvalId } = await run();
  await first.stop(2_000);
  const second = await startHost('second');
  afterwards(() => second.stop(2_000));
  // The gateway is a second one: it has not seen the question being asked.
  const other = callerOf((await openGateway(await opened.as('gateway'))).url);
  await ready(other);
  await vi.waitFor(async () => {
    const { approvals } = (await other('GET', '/v1/approvals')).body;
    expect(approvals).toMatchObject([{ approvalId, sessionKey: key, tool: 'write_file' }]);
  });
  const answered = await other('POST', `/v1/approvals/${approvalId}`, { body: { verdict: 'allow-once' } });
  expect(answered).toMatchObject({ status: 200, body: { outcome: 'accepted' } });
  expect(await run('?wait=20')).toMatchObject({ status: 'ok', reply: expect.stringMatching(/^You said: done\?/) });
  expect(readFileSync(join(workspace, 'note.md'), 'utf8')).toBe('x');
  const { events } = (await call('GET', pathOf(key, '/events?limit=1000&type=tool_call_started'))).body;
  expect(events).toMatchObject([{ approvalId, callAttempt: 1 }]);
}, 90_000);
