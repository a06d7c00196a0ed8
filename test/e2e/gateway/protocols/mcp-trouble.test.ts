import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { HealthProblem } from '../../../../shared/kit/health-problem.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { openGateway } from '../access/access-rig.ts';
import { openBroker, openGateway as openGatewayWith, startWorld, token } from '../setup.ts';
import { overHttp, overStdio, served, use } from './mcp-rig.ts';

/** The MCP server when something is in the way. */

test('I11: long events come in several answers, each event once', async () => {
  const gateway = await openGateway();
  const client = await overHttp(gateway.url, token);
  const long = 'x'.repeat(limits.waitedEventsCharacters / 3);
  for (let n = 0; n < 5; n++) await use(client, 'sessions_send', { sessionKey: 'main', message: `append ${n} ${long}` });
  const seen: string[] = [];
  let answers = 0;
  for (let after = '0'; ; answers++) {
    const { events, next } = await use(client, 'events_wait', { after, timeoutSeconds: 0 });
    if (events.length === 0) break;
    expect(JSON.stringify(events).length).toBeLessThan(2 * limits.waitedEventsCharacters);
    seen.push(...events.map(({ id }: { id: string }) => id));
    after = next;
  }
  expect(answers).toBeGreaterThan(2);
  const page = await gateway.as.owner('GET', '/v1/events?after=0&limit=1000');
  expect(seen).toEqual(page.body.events.map(({ id }: { id: string }) => id));
});

test('an answer that is too large is refused with what helps', async () => {
  const { gateway } = await startWorld();
  const client = await overHttp(gateway.url, token);
  const long = '€'.repeat(80_000);
  for (let n = 0; n < 5; n++) await use(client, 'sessions_send', { sessionKey: 'main', message: long });
  expect(await use(client, 'sessions_history', { sessionKey: 'main' })).toMatch(/^too_large: .*"limit"/);
  expect((await use(client, 'sessions_history', { sessionKey: 'main', limit: 1 })).messages).toHaveLength(1);
});

test('while the broker is away each call says so at once', async () => {
  const ports = openBroker().portsFor('gateway');
  let problems: HealthProblem[] = [];
  const gateway = await openGatewayWith({ ...ports, problems: () => problems });
  const client = await overHttp(gateway.url, token);
  problems = [new HealthProblem('broker_away', 'the broker is away', 'start it')];
  expect(await use(client, 'sessions_send', { sessionKey: 'main', message: 'x' })).toBe(
    'unavailable: the broker is away (broker_away: start it)',
  );
  problems = [];
  await vi.waitFor(async () => expect(await use(client, 'sessions_list')).toEqual({ count: 0, sessions: [] }));
});

test('A10/122: a gateway that stops answers those that wait', async () => {
  const { gateway } = await startWorld();
  const client = await overHttp(gateway.url, token);
  const waited = use(client, 'events_wait', { timeoutSeconds: 100 });
  await vi.waitFor(() => expect(gateway.metrics?.().waiting_calls).toBe(1));
  await gateway.stop(5_000);
  expect(await waited).toEqual({ events: [], next: '0' });
});

test('natter mcp serve says that the gateway is gone, and serves again once another one is there', async () => {
  const memory = openBroker();
  const gateway = await openGatewayWith(memory.portsFor('gateway'));
  const client = await overStdio(gateway.url, token);
  expect(await use(client, 'sessions_list')).toEqual({ count: 0, sessions: [] });
  await gateway.stop(1_000);
  expect(await use(client, 'sessions_list')).toMatch(/^unreachable: /);
  const port = Number(new URL(gateway.url).port);
  await openGatewayWith(memory.portsFor('another gateway'), [], configSchema.parse({ gateway: { port } }));
  await vi.waitFor(async () => expect(await use(client, 'sessions_list')).toEqual({ count: 0, sessions: [] }));
});

test('natter mcp serve tells what is wrong on standard error, and ends when its client leaves', async () => {
  const { gateway } = await startWorld();
  const run = async (bearer: string) => {
    const { command, args, env } = served(gateway.url, bearer);
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end();
    const [out, err, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise((resolve) => child.once('exit', resolve)),
    ]);
    return { out, err, code };
  };
  expect(await run('wrong')).toEqual({ out: '', err: expect.stringContaining('NATTER_TOKEN'), code: 1 });
  expect(await run(token)).toEqual({ out: '', err: '', code: 0 });
});
