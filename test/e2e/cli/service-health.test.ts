import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { inboxPrefixOf } from '../../../shared/wire/grants.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';
import { type Call, callerOf } from '../gateway/setup.ts';

/** Each service in a process of its own, without a supervisor: what it says of itself to whoever probes it. */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = join(root, 'dist/services/cli/main.js');
const dataDir = mkdtempSync(join(tmpdir(), 'natter-health-'));
const firstPort = 21_000 + 10 * (process.pid % 1_000);
const services = ['session', 'router', 'checkpoint', 'delivery', 'gateway'].map((name, index) => {
  const port = String(firstPort + index);
  const probe: Call = callerOf(`http://127.0.0.1:${port}`, null);
  return { name, port, probe };
});
let server: TestServer;
let children: ChildProcess[];

beforeAll(async () => {
  server = await startServer();
  const broker = { NATS_URL: server.url, NATS_USERS_DIR: server.usersDir };
  const env = { ...process.env, ...broker, NATTER_DATA_DIR: dataDir, NATTER_URL: '', NATTER_TOKEN: 'x'.repeat(40) };
  children = services.map(({ name, port }) => {
    const page = name === 'gateway' ? [] : ['--metrics-port', port];
    return spawn(process.execPath, [program, 'service', name, ...page], { env: { ...env, NATTER_PORT: port }, stdio: 'ignore' });
  });
}, 90_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const codesOf = async (probe: Call): Promise<string[]> => {
  const { body } = await probe('GET', '/readyz');
  return body.details.map(({ code }: { code: string }) => code);
};
const everywhere = (check: (probe: Call) => Promise<void>) =>
  vi.waitFor(() => Promise.all(services.map(({ probe }) => check(probe))), { timeout: 30_000, interval: 100 });

test('each service is alive before it is ready, and not ready without streams, or without a consumer', async () => {
  await everywhere(async (probe) => {
    expect((await probe('GET', '/livez')).body).toMatchObject({ status: 'alive' });
    expect(await codesOf(probe)).toContain('streams_missing');
  });
  await provisionFor(server, { partitions: 64 });
  await everywhere(async (probe) =>
    expect(await probe('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } }),
  );
  const tester = await connect({ servers: server.url, inboxPrefix: inboxPrefixOf('operator') });
  const found: string[] = [];
  const count = { strategy: 'count', maxMessages: services.length, maxWait: 60_000 } as const;
  for await (const answer of await tester.requestMany('$SRV.PING.natter', '', count))
    found.push(answer.json<{ metadata: { service: string } }>().metadata.service);
  await tester.close();
  expect(found.sort()).toEqual(services.map(({ name }) => name).sort());
  // A page could have made this name resolve to here.
  const rebound = { headers: { host: 'evil.example' } };
  await everywhere(async (probe) => expect((await probe('GET', '/readyz', rebound)).status).toBe(400));

  const connection = await connect({ servers: server.url });
  await (await jetstreamManager(connection, { checkAPI: false })).consumers.delete('NATTER_INBOUND', 'partition-7');
  await connection.close();
  await everywhere(async (probe) => {
    const { status, body } = await probe('GET', '/readyz');
    expect(status).toBe(503);
    const found = body.details.find(({ code }: { code: string }) => code === 'consumers_missing');
    expect(found).toMatchObject({ fix: expect.stringContaining('natter nats provision') });
  });
  await provisionFor(server, { partitions: 64 });
  await everywhere(async (probe) => expect((await probe('GET', '/readyz')).status).toBe(200));
}, 120_000);

test('a service that stops is alive and not ready until it has ended', async () => {
  const index = services.findIndex(({ name }) => name === 'router');
  const [{ probe } = { probe: callerOf('') }, child] = [services[index], children[index]];
  const gone = child && once(child, 'exit');
  // A silent broker makes it wait.
  await server.pause();
  child?.kill('SIGTERM');
  await vi.waitFor(async () => expect(await codesOf(probe)).toContain('stopping'), { interval: 5 });
  expect((await probe('GET', '/livez')).status).toBe(200);
  server.resume();
  await gone;
}, 90_000);

test('without a broker each is alive and not ready', async () => {
  await server.kill9();
  const others = services.filter(({ name }) => name !== 'router');
  await vi.waitFor(
    () =>
      Promise.all(
        others.map(async ({ probe }) => {
          expect((await probe('GET', '/livez')).status).toBe(200);
          expect(await codesOf(probe)).toContain('broker_away');
        }),
      ),
    { timeout: 30_000 },
  );
}, 90_000);
