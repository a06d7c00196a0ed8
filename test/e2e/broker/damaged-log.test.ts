import { randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { repairCommand } from '../../../services/cli/commands/sessions/repair.ts';
import { type Gateway, startGateway } from '../../../services/gateway/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { keyOf } from '../../support/domain/commits.ts';
import { flipBit } from '../../support/flip-bit.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { natterWith } from '../../support/natter.ts';
import { provisionFor } from '../../support/system.ts';
import { callerOf, pathOf, ready, token } from '../gateway/setup.ts';

/** One flipped bit on the broker's disk (F13): what the broker answers then, and what a session host makes of it. One partition for all. */
describe.each([
  ['the last commit of a session', 'third', [3], 3],
  ['a commit in the middle', 'second', [2], 2],
  ['the only commit', 'alone', [1], 1],
])('a bit flips in %s', (_, text, lost, fromRev) => {
  let server: TestServer;
  let ports: Ports;
  let hostPorts: Ports;
  let host: Service;
  let gateway: Gateway;
  const key = keyOf('agent:main:damaged');
  const other = keyOf('agent:main:other');
  const config = configSchema.parse({ nats: { partitions: 1 }, gateway: { port: 0 } });
  const log = pino({ level: 'silent' });

  const open = async () => {
    ports = await openNats(config, { name: 'test', clock: systemClock, ...server.as('tester') });
    hostPorts = await openNats(config, { name: 'host', clock: systemClock, ...server.as('session') });
    host = await startSession({ config, ports: hostPorts, log, member: randomUUID(), env: {}, recoveryEveryMs: 100 });
    gateway = await startGateway({ config: fixed(config), ports, log, token, version: 'test' });
    await ready(callerOf(gateway.url));
  };
  const close = async () => {
    await gateway.stop(1_000);
    await host.stop(2_000);
    await Promise.all([ports, hostPorts].map((each) => each.close()));
  };
  beforeAll(async () => {
    server = await startServer();
    await provisionFor(server, { partitions: 1 });
    await open();
    const texts = text === 'alone' ? ['alone'] : ['first', 'second', 'third'];
    for (const [at, said] of texts.entries()) {
      await post(key, said);
      await until(async () => expect(await revsOf(key)).toHaveLength(at + 1));
      await post(other, `also ${said}`);
      await until(async () => expect(await revsOf(other)).toHaveLength(at + 1));
    }
    await close();
    await purgeSnapshots();
    await server.restart({ meanwhile: flipBit('NATTER_EVENTS', text === 'alone' ? 'You said: alone' : `You said: ${text}`) });
    await open();
  });
  afterAll(async () => {
    await close();
    await server.stop();
  });

  /** What a stopping host leaves would be another way to know. */
  const purgeSnapshots = async () => {
    const connection = await openConnection({ servers: server.url, name: 'purge', requestTimeoutMs: 2_000 });
    await (await jetstreamManager(connection)).streams.purge('KV_natter_snapshots');
    await connection.close();
  };
  const send = async (to: typeof key, data: SessionCommand): Promise<string> => {
    const id = randomUUID();
    await ports.commands.publish({ id, key: to, at: Date.now(), correlationId: id, causationId: id, actor: 'test', data });
    return id;
  };
  const post = (to: typeof key, said: string) =>
    send(to, { type: 'post_message', sessionId: 's', message: { messageId: randomUUID(), text: said, sender: { id: 'ann' } } });
  const commitsOf = async (of: typeof key): Promise<RecordedCommit[]> => {
    const commits: RecordedCommit[] = [];
    for await (const commit of ports.events.read(of)) commits.push(commit);
    return commits;
  };
  const revsOf = async (of: typeof key) => (await commitsOf(of)).map(({ rev }) => rev);
  const until = (assertion: () => Promise<void>): Promise<void> => vi.waitFor(assertion, { interval: 20 });
  const deadReasons = async () => (await ports.deadLetters.list(10)).map(({ reason }) => reason);

  test('the broker counts what it cannot read, and that is never taken for an empty session', async () => {
    const all = text === 'alone' ? [1] : [1, 2, 3];
    expect(await revsOf(key)).toEqual(all.filter((rev) => !lost.includes(rev)));
    expect(await ports.events.count(key)).toBe(all.length);
    expect(await ports.events.count(keyOf('agent:main:nobody'))).toBe(0);
    expect(await ports.events.last(keyOf('agent:main:nobody'))).toBeNull();
    if (lost.includes(all.length)) await expect(ports.events.last(key)).rejects.toMatchObject({ code: 'damaged' });
    else expect(await ports.events.last(key)).toMatchObject({ rev: all.length });
  });

  test('the session is set aside with the reason, its partition goes on, and nothing is written over it', async () => {
    const before = await revsOf(key);
    await post(key, 'lost?');
    await post(other, 'still there');
    await until(async () => expect((await revsOf(other)).length).toBeGreaterThan(text === 'alone' ? 1 : 3));
    await until(async () => expect((await deadReasons()).join()).toContain(`natter repair ${key}`));
    expect(await revsOf(key)).toEqual(before);
    expect(host.metrics()).toMatchObject({ sessions_damaged: 1 });
    expect([...host.problems(), ...ports.problems()]).toEqual([]);
    expect(host.warnings?.()).toEqual([`1 session is damaged; see natter repair ${key}`]);
  });

  test('over the API the session can be read up to the damage, and what is lost is told to the owner', async () => {
    const call = callerOf(gateway.url);
    const readable = await revsOf(key);
    const page = await call('GET', pathOf(key, '/commits'));
    if (readable.length > 0) expect(page.body.commits.map(({ rev }: RecordedCommit) => rev)).toEqual(readable);
    else expect(page).toMatchObject({ status: 409, body: { code: 'damaged' } });
    const state = await call('GET', pathOf(key, '/state'));
    expect(state).toMatchObject({ status: 409, body: { code: 'damaged' } });
    const { body } = await call('GET', pathOf(key, '/damage'));
    expect(body).toMatchObject({ gaps: [{ fromRev, toRev: fromRev }], lastRev: readable.at(-1) ?? 0 });
    expect((await call('GET', '/readyz')).status).toBe(200);
    const sent = await call('POST', pathOf(key, '/messages'), { body: { text: 'x', mode: 'append' } });
    expect([202, 409]).toContain(sent.status);
  });

  test('a person decides: it is recorded what is lost, and the session goes on', async () => {
    const natter = natterWith([repairCommand], { home: '/', env: { NATTER_URL: gateway.url, NATTER_TOKEN: token } });
    const shown = await natter('repair', key);
    expect(shown).toContain(`rev ${fromRev} is `);
    expect(process.exitCode).toBe(1);
    process.exitCode = undefined;
    expect(await natter('repair', key, '--yes', '--reason', 'a bad disk')).toContain('goes on');
    const repair = (await commitsOf(key)).at(-1);
    expect(repair?.events[0]).toMatchObject({ fromRev, toRev: fromRev, reason: 'a bad disk', by: 'token:api' });
    await post(key, 'and now?');
    await until(async () => expect(JSON.stringify((await commitsOf(key)).at(-1))).toContain('You said: and now?'));
    expect(host.metrics()).toMatchObject({ sessions_damaged: 0 });
    expect(await natter('repair', key)).toContain('every commit is there');
    const audit = await callerOf(gateway.url)('GET', '/v1/audit?kind=history_repaired');
    expect(audit.body.records).toMatchObject([{ target: key, outcome: 'ok' }]);
  });
});
