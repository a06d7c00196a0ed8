import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { type ServiceProcess, serviceProcess } from '../../chaos/host-process.ts';
import { numbered, startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

/** A7/83 on a real broker with real session hosts: no process has the timer, so killing any of them, or the broker, neither loses nor doubles it. */
const key = 'agent:main:irc:dm:ann' as SessionKey;
const idleMs = 3_000;
/** What the broker and a host of ours may be late together (issue 6; `docs/use/checkpoints.md` has what they are). */
const lateMs = 1_000;
const folder = mkdtempSync(join(tmpdir(), 'natter-idle-'));
const settings = { nats: { partitions: 1 }, introspection: { idleMinutes: idleMs / 60_000 } };
let server: TestServer;
const running: ServiceProcess[] = [];
let systems = 0;

beforeAll(async () => {
  server = await startServer({ prefixes: numbered('idle', 20) });
});
afterEach(() => Promise.all(running.splice(0).map((host) => host.kill9())));
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const startSystem = async () => {
  const prefix = `idle${++systems}`;
  const config = configSchema.parse({ ...settings, prefix });
  await provisionFor(server, { prefix, partitions: 1 });
  const ports: Ports = await openNats(config, { name: prefix, clock: systemClock, ...server.as('tester') });
  const file = join(folder, `${prefix}.json`);
  writeFileSync(file, JSON.stringify({ ...settings, prefix }));
  const host = serviceProcess('session', {
    NATS_URL: server.url,
    NATS_USERS_DIR: server.usersDir,
    NATTER_DATA_DIR: folder,
    NATTER_CONFIG: file,
  });
  running.push(host);
  await host.start();

  const say = async (id: string): Promise<void> => {
    const message = { messageId: id, text: 'hello', sender: { id: 'ann' } };
    const data = { type: 'post_message', sessionId: 's1', message } as const;
    const answer = ports.answers.wait(id, 20_000);
    const ids = { id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'test' };
    await ports.commands.publish({ ...ids, answerTo: ports.answers.address, data });
    expect((await answer)?.outcome).toBe('accepted');
  };
  const commits = async () => (await ports.events.page({ after: 0, limit: 1_000 })).commits;
  const said = async () => {
    const spoken = (await commits()).filter(({ events }) =>
      events.some(({ type }) => type === 'user_message' || type === 'assistant_message'),
    );
    return spoken.at(-1)?.at ?? 0;
  };
  const asked = async () =>
    (await commits()).flatMap(({ at, recordedAt, events }) =>
      events.flatMap((event) => (event.type === 'checkpoint_requested' ? [{ reason: event.reason, at, recordedAt }] : [])),
    );
  const askedOnce = () => vi.waitFor(async () => expect(await asked()).toHaveLength(1), { interval: 100 });
  return { ports, host, say, said, asked, askedOnce };
};

test('A7/83: the silence is introspected when it has been long enough, within a second', async () => {
  const { ports, say, said, asked, askedOnce } = await startSystem();
  await say('m1');
  await systemClock.sleep(idleMs / 2);
  await say('m2');
  await askedOnce();
  const [request] = await asked();
  expect(request).toMatchObject({ reason: 'idle', at: (await said()) + idleMs });
  expect((request?.recordedAt ?? 0) - (request?.at ?? 0)).toBeGreaterThanOrEqual(0);
  expect((request?.recordedAt ?? 0) - (request?.at ?? 0)).toBeLessThan(lateMs);
  await ports.close();
});

test.each([
  ['its host is killed and started again', false],
  ['the broker is killed and started again too', true],
])(
  'A7/83: it is due once although %s',
  async (_, isBrokerKilled) => {
    const { ports, host, say, said, asked, askedOnce } = await startSystem();
    await say('m1');
    await say('m2');
    await host.kill9();
    if (isBrokerKilled) await server.kill9().then(() => server.restart());
    await host.start();
    await askedOnce();
    expect(await asked()).toMatchObject([{ reason: 'idle', at: (await said()) + idleMs }]);
    await ports.close();
  },
  120_000,
);

test('A7/83: it was due while nobody was there: the next host that starts finds it', async () => {
  const { ports, host, say, said, asked, askedOnce } = await startSystem();
  await say('m1');
  await host.kill9();
  const gone = Date.now();
  await systemClock.sleep(idleMs + lateMs);
  expect(await asked()).toEqual([]);
  await host.start();
  await askedOnce();
  const [request] = await asked();
  // The timer counts from when the host set it: after the message came, and before the host was killed.
  const set = (request?.at ?? 0) - idleMs;
  expect(set).toBeGreaterThanOrEqual(await said());
  expect(set).toBeLessThanOrEqual(gone);
  await ports.close();
}, 120_000);
