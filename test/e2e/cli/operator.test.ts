import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { auditCommand } from '../../../services/cli/commands/operate/audit.ts';
import { deadLettersCommand } from '../../../services/cli/commands/operate/dead-letters.ts';
import { deliveriesCommand } from '../../../services/cli/commands/operate/deliveries.ts';
import { doctorCommand } from '../../../services/cli/commands/operate/doctor.ts';
import { statusCommand } from '../../../services/cli/commands/operate/status.ts';
import { installationIn } from '../../../services/cli/installation.ts';
import { reportHealth } from '../../../services/cli/runtime/health/report.ts';
import { type System, startSystem } from '../../../services/cli/runtime/system.ts';
import type { World } from '../../../services/cli/terminal.ts';
import { closeConnection, openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { Undelivered } from '../../../shared/ports/dead-letters.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Finding } from '../../../shared/runtime/doctor/finding.ts';
import { encode, encodeCommand } from '../../../shared/wire/codec.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { partitionConsumer } from '../../../shared/wire/topology.ts';
import { undeliveredCodec } from '../../../shared/wire/undelivered.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { natterWith } from '../../support/natter.ts';
import { callerOf, pathOf, ready } from '../gateway/setup.ts';

/** What an operator asks a whole system on a real broker: doctor, status, audit. */
const home = mkdtempSync(join(tmpdir(), 'natter-operator-'));
let server: TestServer;
let system: System;
const token = 'a-token-for-an-operator-of-forty-letters';
const log = pino({ level: 'silent' });
const env = (): Record<string, string> => ({
  ...{
    NATS_URL: server.url,
    NATS_USERS_DIR: server.usersDir,
    NATTER_URL: system.gateway.url,
    NATTER_TOKEN: token,
    NATTER_PORT: '0',
    NATTER_DATA_DIR: home,
  },
});
const configIn = (given: Record<string, string>) => loadConfig({ env: given, home });
const call = (...given: Parameters<ReturnType<typeof callerOf>>) => callerOf(system.gateway.url, token)(...given);
const natter = async (...words: string[]): Promise<string> => {
  const run = natterWith([auditCommand, deadLettersCommand, deliveriesCommand, doctorCommand, statusCommand], {
    home,
    env: env(),
    now: () => Date.now(),
  });
  return stripVTControlCharacters(await run(...words));
};
const examined = async (): Promise<Record<string, Finding>> => {
  const { findings } = JSON.parse(await natter('doctor', '--json')) as { findings: Finding[] };
  return Object.fromEntries(findings.map((finding) => [finding.what, finding]));
};

beforeAll(async () => {
  server = await startServer();
  const world = {
    env: {},
    home,
    terminal: { interactive: false },
    output: new PassThrough(),
    program: 'natter',
    version: '1.2.3',
  } as unknown as World;
  const broker = { NATS_URL: server.url, NATS_USERS_DIR: server.usersDir };
  const config = fixed(configIn({ ...broker, NATTER_PORT: '0', NATTER_DATA_DIR: home }));
  const installation = installationIn(home);
  const options = { world, config, installation, token, log, clock: systemClock };
  system = await startSystem({ ...options, hosts: 1, childArguments: [], logFile: 2 });
  await ready(callerOf(system.gateway.url, token));
}, 90_000);
afterAll(async () => {
  await system.stop();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});
afterEach(() => {
  process.exitCode = undefined;
});

describe('natter status', () => {
  test('A12/128: the processes with their services, sessions by state, what waits', async () => {
    await call('POST', pathOf('agent:main:main', '/messages?wait=20'), { body: { text: 'hello' } });
    await vi.waitFor(async () => expect(JSON.parse(await natter('status', '--json')).counts.idle).toBe(1));
    expect(JSON.parse(await natter('status', '--json'))).toMatchObject({
      ready: true,
      processes: [
        {
          process: expect.stringMatching(/^up-/),
          services: expect.arrayContaining([{ name: 'session', problems: [], warnings: [] }]),
        },
      ],
      counts: { idle: 1, running: 0, awaiting_approval: 0, inactive: 0 },
      turnsRunning: 0,
      pendingApprovals: { pending: 0, oldestAt: null },
      queues: { commands: 0, inbound: 0 },
      deliveriesInHand: 0,
      deadLetters: 0,
      openDeliveries: 0,
    });
    const text = await natter('status');
    expect(text).toMatch(/^runs +1 session, 1 router, 1 checkpoint, 1 delivery, 1 gateway$/m);
    expect(text).toMatch(/^sessions 1 idle, .*; 0 turns running$/m);
    expect(text).toMatch(/^waits +0 approvals; queued: 0 commands, 0 inbound.*; 0 deliveries in hand; 0 dead letters$/m);
  });

  test("the broker's own tools find each service of the process, with its version", async () => {
    const operator = await openConnection({ ...server.as('operator'), name: 'test', requestTimeoutMs: 5_000 });
    onTestFinished(() => closeConnection(operator));
    const found: string[] = [];
    const count = { strategy: 'count', maxMessages: 5, maxWait: 60_000 } as const;
    for await (const answer of await operator.requestMany('$SRV.PING.natter', '', count)) {
      const { id, version, metadata } = answer.json<{ id: string; version: string; metadata: { service: string } }>();
      expect([id.startsWith(`${metadata.service}-`), version]).toEqual([true, '1.2.3']);
      found.push(metadata.service);
    }
    expect(found.sort()).toEqual(['checkpoint', 'delivery', 'gateway', 'router', 'session']);
  });

  test('what a host of its own misses is told, until the host is gone', async () => {
    const ports = await openNats(configIn(env()), { name: 'test', clock: systemClock, servers: server.url });
    onTestFinished(() => ports.close());
    const stopping = new AbortController();
    const service = {
      ...{
        name: 'session',
        problems: () => [new HealthProblem('consumers_missing', 'no leader')],
        warnings: () => ['mcp server "x" is away'],
      },
      metrics: () => ({ turns_running: 3, nonsense: Number.NaN }),
    };
    const told = {
      process: 'session-7',
      version: '1',
      presence: ports.presence,
      clock: systemClock,
      log,
      config: fixed(configIn(env())),
    };
    const telling = reportHealth(() => [service], { ...told, signal: stopping.signal });
    const warning = 'warning  session of session-7: mcp server "x" is away';
    await vi.waitFor(async () => expect(await natter('status')).toContain(warning));
    expect(await natter('status')).toMatch(/problem {2}session of session-7: no leader[\s\S]*; 3 turns running/);
    // The gateway tells once a second how it is; its first word is that it has just begun.
    await vi.waitFor(
      async () => expect(await examined()).toMatchObject({ processes: { level: 'fail', detail: 'session: no leader' } }),
      { timeout: 10_000 },
    );
    stopping.abort();
    await telling;
    await vi.waitFor(async () => expect(await natter('status')).not.toContain('session-7'));
  });
});

test('a deleted consumer is told within 5 s, made again by natter up, and its messages are answered (F10)', async () => {
  const key = 'agent:main:deleted-consumer';
  const connection = await connect({ servers: server.url });
  onTestFinished(() => connection.close());
  const { consumers } = await jetstreamManager(connection, { checkAPI: false });
  const deleting = [...Array(64).keys()].map((number) => consumers.delete('NATTER_COMMANDS', partitionConsumer(number)));
  // Whatever is made again goes at once, until all has been seen: otherwise it may be healed between two looks.
  const made = connection.subscribe('$JS.EVENT.ADVISORY.CONSUMER.CREATED.NATTER_COMMANDS.*', {
    callback: (_, { subject }) => {
      const name = subject.split('.').at(-1) ?? '';
      deleting.push(consumers.delete('NATTER_COMMANDS', name).catch(() => false));
    },
  });
  await Promise.all(deleting);
  const readiness = async () => (await call('GET', '/readyz')).body;
  // Services tell it of their own queues too, and may be the first; calls are refused once the look at the whole store has found it.
  const told = { code: 'consumers_missing', message: expect.stringMatching(/^NATTER_COMMANDS lacks [56]\d of 64 consumers/) };
  await vi.waitFor(async () => expect((await readiness()).details).toContainEqual(expect.objectContaining(told)), {
    ...{ interval: 20 },
  });
  expect((await call('POST', pathOf(key, '/messages'), { body: { text: 'x' } })).body).toMatchObject({
    problem: 'consumers_missing',
  });
  expect(await natter('status')).toMatch(
    /^gateway +\S+ +not ready: .*consumers_missing[\s\S]*?\nproblem +NATTER_COMMANDS lacks [56]\d of 64.*\n +→ /,
  );
  await made.drain();
  await Promise.all(deleting);
  await vi.waitFor(async () => expect(await readiness()).toMatchObject({ status: 'ready' }));
  expect((await call('POST', pathOf(key, '/messages?wait=20'), { body: { text: 'hello' } })).body).toMatchObject({
    reply: 'You said: hello',
  });
  await vi.waitFor(async () => expect(await examined()).toMatchObject({ store: { level: 'ok' }, processes: { level: 'ok' } }));
}, 90_000);

describe('natter audit', () => {
  test('who did what, the newest last; --json as lines; --kind and --after', async () => {
    const { body: made } = await call('POST', '/v1/tokens', { body: { role: 'read-only' } });
    await call('DELETE', `/v1/tokens/${made.id}`);
    const [created = '', revoked = ''] = (await natter('audit', '--limit', '2')).split('\n');
    expect(created).toMatch(new RegExp(`token_created  token:api \\(127\\.0\\.0\\.1\\)  ${made.id} role: read-only$`));
    expect(revoked).toContain('token_revoked');
    const [line = ''] = (await natter('audit', '--json', '--kind', 'token_created', '--limit', '1')).split('\n');
    const record = JSON.parse(line);
    expect(record).toMatchObject({ kind: 'token_created', target: made.id, outcome: 'ok' });
    expect((await natter('audit', '--after', String(record.seq))).trim().split('\n')).toHaveLength(1);
  });
});

describe('natter doctor', () => {
  test('finds nothing that fails, and says what it looked at', async () => {
    const nats = { snapshotKeyFile: join(home, 'snapshot-key.pem') };
    writeFileSync(join(home, 'natter.json'), JSON.stringify({ nats }), { mode: 0o600 });
    onTestFinished(() => rmSync(join(home, 'natter.json')));
    const found = await examined();
    const { disk: _, ...others } = found;
    expect(Object.values(others).filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(Object.keys(found)).toEqual([
      ...['node', 'config', 'settings', 'privacy', 'owner', 'address', 'snapshots', 'model', 'disk', 'secrets'],
      ...['broker', 'jetstream', 'clock'],
      ...['streams', 'store', 'log', 'queues', 'log readers', 'processes', 'answers', 'checkpoints', 'dead letters'],
      ...['deliveries', 'tokens', 'gateway'],
    ]);
    expect(found.clock?.detail).toMatch(/^\d+ ms/);
    expect(found.jetstream?.detail).toMatch(/stored/);
    expect(process.exitCode).not.toBe(1);
  });

  test('a token that ends soon is a warning, and no failure', async () => {
    const { body: made } = await call('POST', '/v1/tokens', { body: { role: 'read-only', expiresAt: Date.now() + 3_600_000 } });
    expect(await examined()).toMatchObject({ tokens: { level: 'warn', detail: expect.stringContaining(made.id) } });
    expect(process.exitCode).not.toBe(1);
    await call('DELETE', `/v1/tokens/${made.id}`);
    expect(await natter('doctor')).toMatch(/^ok {4}tokens /m);
  });

  test('a token that the gateway does not take fails, though the gateway is ready', async () => {
    expect(await natter('doctor', '--token', 'not-that-one')).toMatch(
      /^fail {2}gateway +\S+ is ready, but refused the call: .*token.*\n +→ pass/m,
    );
    expect(process.exitCode).toBe(1);
  });

  test('an unknown key of the configuration fails by its name', async () => {
    writeFileSync(join(home, 'natter.json'), '{ gatway: {} }', { mode: 0o600 });
    onTestFinished(() => rmSync(join(home, 'natter.json')));
    expect(await examined()).toMatchObject({
      config: { level: 'fail', detail: expect.stringMatching(/natter\.json:1: gatway/) },
    });
    expect(process.exitCode).toBe(1);
  });

  test('a dead letter is a warning that names the command which tells of it; what was said is only in --json', async () => {
    const ports = await openNats(configIn(env()), { name: 'test', clock: systemClock, servers: server.url });
    onTestFinished(() => ports.close());
    const letter = { id: 'x-1', service: 'router', reason: 'it is garbage', subject: 'natter.inbound.irc.x', at: Date.now() };
    await ports.deadLetters.put({ ...letter, bytes: Buffer.from('planted') });
    expect(await examined()).toMatchObject({
      'dead letters': { level: 'warn', fix: expect.stringContaining('natter dead-letters') },
    });
    const text = await natter('dead-letters');
    expect(text).toMatch(
      /^SEQ +AGE +SERVICE +SESSION +REASON +SUBJECT\n1 +\S+ +router +it is garbage +natter\.inbound\.irc\.x\n$/,
    );
    const { deadLetters } = JSON.parse(await natter('dead-letters', '--json'));
    expect(deadLetters).toMatchObject([{ ...letter, seq: 1, size: 7, bytes: Buffer.from('planted').toString('base64') }]);
    expect(await natter('dead-letters', 'show', '1')).toMatch(/^resend +not possible: it would come back: /m);
    await expect(natter('dead-letters', 'discard', '1', '--reason', 'planted')).rejects.toThrow(/--yes/);
    expect(await natter('dead-letters', 'discard', '1', '--yes', '--reason', 'planted')).toBe('1: discarded\n');
    expect(await natter('audit', '--kind', 'dead_letter_discarded')).toMatch(/ {2}1 service: router, id: x-1, reason: planted$/m);
    expect(await natter('dead-letters')).toBe('');
    const bytes = encode({ key: 'agent:main:lost' });
    await ports.deadLetters.put({ ...letter, id: 'x-2', service: 'session', bytes });
    expect(await natter('dead-letters')).toMatch(/^2 +\S+ +session +agent:main:lost +it is garbage/m);
    expect(await natter('dead-letters', 'show', '2')).toMatch(/^session +agent:main:lost$/m);
    await natter('dead-letters', 'discard', '2', '--yes', '--reason', 'planted');
  });

  test('D12: a message that may not have arrived is a warning; it is shown, repeated once and left by its number', async () => {
    const ports = await openNats(configIn(env()), { name: 'test', clock: systemClock, servers: server.url });
    onTestFinished(() => ports.close());
    const key = 'agent:main:deliveries' as SessionKey;
    expect((await call('POST', pathOf(key, '/messages'), { body: { text: 'hi', mode: 'append' } })).status).toBeLessThan(300);
    const keep = async (id: string, more: Partial<Undelivered> = {}): Promise<string> => {
      const target = { channel: 'chat', to: 'ann' };
      const outbound = { id, seq: 9, key, target, kind: 'assistant_message', text: `text of ${id}`, turnId: 't' } as const;
      const bytes = undeliveredCodec.encode({ ...outbound, outcome: 'unknown', ...more });
      const letter = { id, service: 'delivery', reason: 'cut', subject: 'natter.delivery.unknown.chat.x', at: Date.now(), bytes };
      await ports.deadLetters.put(letter);
      return `${(await ports.deadLetters.list(1))[0]?.seq}`;
    };
    const first = await keep('9.0');
    const second = await keep('9.1', { outcome: 'partial', parts: { sent: 1, of: 3 } });
    expect(await examined()).toMatchObject({ deliveries: { level: 'warn', fix: expect.stringContaining('natter deliveries') } });
    expect(await natter('status')).toMatch(/^warning {2}2 outgoing messages may not have arrived \(natter deliveries\)$/m);
    const row = `\\S+ +partial, 1 of 3 parts sent +${key} +chat ann +cut`;
    expect(await natter('deliveries')).toMatch(
      new RegExp(`^SEQ +AGE +STATE .*\n${second} +${row}\n${first} +\\S+ +unknown .*\n$`),
    );
    expect(JSON.parse(await natter('deliveries', '--json')).deliveries).toMatchObject([
      { seq: Number(second) },
      { state: 'unknown' },
    ]);
    expect(await natter('deliveries', 'show', first)).toMatch(/^repeat +the receiver may get it twice\n(?:.*\n)*.*text of 9\.0/m);
    await expect(natter('deliveries', 'repeat', first)).rejects.toThrow(/--yes/);
    expect(await natter('deliveries', 'repeat', first, '--yes')).toBe(`${first}: is sent again; the receiver may get it twice\n`);
    expect(await natter('deliveries', 'leave', second)).toBe(`${second}: left as it is\n`);
    expect(await natter('audit', '--kind', 'delivery_repeated')).toMatch(/ outboundId: 9\.0, state: unknown$/m);
    // Here is no outlet for the channel: the repeat is listed anew, as a message of its own.
    const anew = await vi.waitFor(async () => {
      const { deliveries } = JSON.parse(await natter('deliveries', '--json'));
      expect(deliveries).toMatchObject([{ state: 'failed', detail: 'no outlet for channel "chat"' }]);
      return deliveries[0];
    });
    expect(anew.outboundId).not.toBe('9.0');
    await natter('deliveries', 'leave', `${anew.seq}`);
    expect(await natter('deliveries')).toBe('');
    expect(await natter('deliveries', 'delivered')).toBe('');
    const to = { channel: 'chat', to: 'bob' };
    const arrived = { outboundId: '9.2', outboundSeq: 9, key, target: to, state: 'delivered', messageId: 'm-7' } as const;
    await ports.custody.append({ v: 1, attempt: 2, at: Date.now(), ...arrived }, 0);
    await vi.waitFor(async () =>
      expect(await natter('deliveries', 'delivered')).toMatch(new RegExp(` 2 +${key} +chat bob +m-7\n$`)),
    );
    const parked = { channel: 'chat', accountId: 'work', state: 'parked', detail: 'HTTP 401', until: 0 } as const;
    const service = { name: 'delivery', problems: [], warnings: [], metrics: {}, waiting: [parked] };
    await ports.presence.tell({ v: 1, process: 'planted', version: '0', startedAt: 1, at: 1, services: [service] });
    expect(await natter('deliveries')).toMatch(/^- +now +parked +- +chat account work +HTTP 401$/m);
    expect(await natter('deliveries', 'resume', 'chat', '--account', 'work')).toBe('chat account work: tried again now\n');
    await ports.presence.leave('planted');
  });

  test('I2: a command that no host could take is resent from the command line: once, and said to be a repeat the second time', async () => {
    const ports = await openNats(configIn(env()), { name: 'test', clock: systemClock, servers: server.url });
    onTestFinished(() => ports.close());
    const key = 'agent:main:resent' as SessionKey;
    const message = { messageId: 'late', text: 'said late', sender: { id: 'ann' } };
    const data = { type: 'append_message', sessionId: 's', message } as const;
    const bytes = encodeCommand({ id: 'late', key, at: 1, correlationId: 'late', causationId: 'late', actor: 'test', data });
    const others = [...Array(99).keys()].map((index) => `agent:main:${index}`);
    const elsewhere = others.find((each) => ports.commands.partitionOf(each) !== ports.commands.partitionOf(key)) ?? '';
    const listed = async (): Promise<string> => {
      const { deadLetters } = JSON.parse(await natter('dead-letters', '--json'));
      return String(deadLetters.find(({ service }: { service: string }) => service === 'session').seq);
    };
    const connection = await connect({ servers: server.url });
    onTestFinished(() => connection.close());
    for (const [show, resent] of [
      [/^resend +takes effect: /m, /^\d+: resent\n$/],
      [/^resend +a repeat: /m, /^\d+: resent; agent:main:resent has it already/],
    ] as const) {
      connection.publish(subjectsUnder('natter').command(elsewhere), bytes);
      const seq = await vi.waitFor(listed);
      expect(await natter('dead-letters', 'show', seq)).toMatch(show);
      expect(await natter('dead-letters', 'resend', seq, '--yes')).toMatch(resent);
      await vi.waitFor(async () => expect(await ports.commands.lag()).toBe(0));
      const { body } = await call('GET', pathOf(key, '/messages'));
      expect(body.messages.map(({ text }: { text: string }) => text)).toEqual(['said late']);
    }
    expect(await natter('dead-letters')).toBe('');
  });

  test('a stream that is gone, and then a broker that is', async () => {
    const connection = await connect({ servers: server.url });
    await (await jetstreamManager(connection, { checkAPI: false })).streams.delete('NATTER_DEAD');
    await connection.close();
    expect(await examined()).toMatchObject({ streams: { level: 'fail', detail: 'missing: NATTER_DEAD' } });
    const told = { level: 'fail', detail: expect.stringMatching(/^streams_missing: .*NATTER_DEAD/), fix: expect.any(String) };
    await vi.waitFor(async () => expect((await examined()).gateway).toMatchObject(told));
    expect(await natter('status')).toMatch(/^gateway .* not ready: streams_missing\n/);
    expect(process.exitCode).toBe(1);
    await server.kill9();
    expect(await examined()).toMatchObject({ broker: { level: 'fail' }, gateway: { level: 'fail' } });
    await server.restart();
  }, 90_000);
});
