import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Msg } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { installationIn } from '../../../services/cli/installation.ts';
import { existingBroker } from '../../../services/cli/runtime/broker.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { afterwards, type Call, callerOf, ready } from '../gateway/setup.ts';
import { type Collector, type Span, startCollector } from './collector.ts';

/** `natter up --hosts 2` with traces: three processes, a real broker between them, and one trace. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const built = join(root, 'dist');
const program = join(built, 'services/cli/main.js');
const token = 'a-token-for-the-processes';
const key = 'agent:main:main';
const path = `/v1/sessions/${encodeURIComponent(key)}/messages`;

const dataDir = mkdtempSync(join(tmpdir(), 'natter-telemetry-'));
const env = {
  ...process.env,
  ...{ NATTER_DATA_DIR: dataDir, NATTER_URL: '', NATTER_TOKEN: '', NATS_URL: '', NO_COLOR: '1' },
};
const children: ChildProcess[] = [];
const natter = (words: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess => {
  const child = spawn(process.execPath, [program, ...words], { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
};
let hanging = false;
let collector: Collector;
let up: ChildProcess;
let call: Call;

beforeAll(async () => {
  collector = await startCollector((response) => void (hanging || response.end('{}')), { stays: true });
  writeFileSync(join(dataDir, 'natter.json'), JSON.stringify({ gateway: { token } }));
  up = natter(['up', '--hosts', '2', '--port', '0', '--no-chat'], {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' },
  });
  const printed: string[] = [];
  createInterface({ input: up.stdout as NodeJS.ReadableStream }).on('line', (line) => printed.push(line));
  await vi.waitFor(() => expect(up.exitCode ?? printed.join('\n')).toMatch(/natter is up {2}http/), { timeout: 60_000 });
  const [, url = ''] = /natter is up {2}(\S+)/.exec(printed.join('\n')) ?? [];
  call = callerOf(url, token);
  await ready(call);
}, 120_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await collector.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const hostPids = (): number[] =>
  readFileSync(`/proc/${up.pid}/task/${up.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0service\0session'));

/** The traces in the headers of all that goes over the broker, as `<kind of subject> <trace id>`. */
const headersOnTheBroker = async (): Promise<string[]> => {
  const address = existingBroker(loadConfig({ env, home: dataDir }), installationIn(dataDir));
  const connection = await openConnection({ ...address, name: 'test', requestTimeoutMs: 5_000 });
  afterwards(() => connection.close());
  const headers: string[] = [];
  const callback = (_: unknown, message: Msg): void => {
    const header = message.headers?.get('traceparent');
    if (header) headers.push(`${message.subject.split('.')[1]} ${header.split('-')[1]}`);
  };
  for (const subject of ['natter.command.*', 'natter.event.>']) connection.subscribe(subject, { callback });
  await connection.flush();
  return headers;
};

test('a turn that lost its host goes on in the same trace, which the broker has in its headers', async () => {
  const headers = await headersOnTheBroker();
  // After its first step the turn has some 10 s left, so a late sight of that step still comes before its end.
  const posted = await call('POST', path, { body: { text: '[[think 1500]] [[steps 8]] hello' } });
  expect(posted.status).toBe(202);
  const done = () => collector.named('chat offline').filter(({ attributes }) => attributes['error.type'] === undefined);
  await vi.waitFor(() => expect(done().length).toBeGreaterThan(0));
  // Hosts that have just started may still hand over the session: that is an attempt, too.
  const attempts = collector.named('invoke_agent main').length;
  for (const pid of hostPids()) process.kill(pid, 'SIGKILL');

  await vi.waitFor(() => expect(collector.named('invoke_agent main').length).toBeGreaterThan(attempts), { timeout: 40_000 });
  const turn = collector.named('invoke_agent main').at(-1) as Span;
  expect(turn.attributes['natter.turn.attempt']).toBeGreaterThan(attempts + 1);
  const trace = collector.traceOf(turn);
  expect(trace.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'POST /v1/sessions/:key/messages',
      'publish commands',
      'process commands',
      'commit assistant_message',
    ]),
  );
  expect(new Set(trace.map(({ resource }) => resource['service.name']))).toEqual(new Set(['natter', 'natter-session']));
  expect(headers).toEqual(expect.arrayContaining([`command ${turn.traceId}`, `event ${turn.traceId}`]));
}, 120_000);

test("hosts in processes of their own are on the gateway's page, each with its number", async () => {
  await vi.waitFor(async () => {
    const { text } = await call('GET', '/metrics');
    for (const host of ['1', '2']) expect(text).toContain(`natter_sessions_resident{service="session",host="${host}"}`);
    expect(text).toMatch(/natter_turns_ended_total\{outcome="completed",code="",host="[12]"\} 1/);
    expect(text).toContain('natter_host_restarts_total{service="hosts"} 2');
  }, 90_000);
}, 90_000);

test('a service alone serves its metrics to whoever has the token', async () => {
  const port = 20_000 + (process.pid % 10_000);
  natter(['service', 'router', '--metrics-port', String(port)]);
  const get = (bearer: string | null, where = '/metrics') => callerOf(`http://127.0.0.1:${port}`, bearer)('GET', where);
  await vi.waitFor(async () => expect((await get(token)).text).toContain('natter_partitions{service="router"}'), 30_000);
  expect((await get(null)).status).toBe(401);
  expect((await get('another-token')).status).toBe(401);
  expect((await get(token, '/metrics?x')).status).toBe(404);
}, 90_000);

test('a system whose collector hangs stops in time', async () => {
  hanging = true;
  await call('POST', path, { body: { text: 'hello' } });
  const began = performance.now();
  up.kill('SIGTERM');
  await once(up, 'exit');
  expect(performance.now() - began).toBeLessThan(15_000);
}, 90_000);

test.each([
  ['', []],
  ['http://127.0.0.1:9', ['exporter-trace-otlp-http', 'sdk-trace-node']],
])('with the endpoint %j these packages of OpenTelemetry are loaded: %j', (endpoint, loaded) => {
  const script = `
    const { startTracing } = await import(${JSON.stringify(join(built, 'shared/runtime/telemetry/start.js'))});
    await import(${JSON.stringify(join(built, 'services/cli/runtime/up.js'))});
    const tracing = await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: ${JSON.stringify(endpoint)} }, 'natter', console);
    const { createRequire } = await import('node:module');
    const paths = Object.keys(createRequire(import.meta.url).cache);
    const names = paths.map((path) => /@opentelemetry.((?:sdk|exporter)-trace-(?:node|otlp-http))/.exec(path)?.[1]);
    console.log(JSON.stringify([...new Set(names.filter(Boolean))].sort()));
    await tracing.stop(100);
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(loaded);
});
