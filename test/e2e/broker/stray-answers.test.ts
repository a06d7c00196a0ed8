import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startSession } from '../../../services/session/main.ts';
import { closeConnection, openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { DeliveryTarget } from '../../../shared/domain/values/types.ts';
import type { IssuedToken } from '../../../shared/ports/access/tokens.ts';
import type { CustodyRecord, CustodyState } from '../../../shared/ports/custody-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { encodeCommit } from '../../../shared/wire/codec.ts';
import { custodyCodec } from '../../../shared/wire/custody-record.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { issuedTokenCodec } from '../../../shared/wire/token-records.ts';
import { commitTo } from '../../support/domain/commits.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';

/**
 * The broker answers to any subject that is asked for: a user who may not write the log asks for bytes of its own to be answered into it.
 * The broker stores them (2.15.1); nobody may believe them (ADR 19).
 */
const config = configSchema.parse({ nats: { partitions: 1 } });
const subjects = subjectsUnder('natter');
let server: TestServer;
let opened: ReturnType<typeof portsOn>;
let ports: Ports;
let host: Service;
let thief: NatsConnection;

beforeAll(async () => {
  server = await startServer();
  await provisionFor(server, { partitions: 1 });
  opened = portsOn(server, config);
  ports = await opened.as('gateway');
  host = await startSession({
    config,
    ports: await opened.as('session'),
    log: pino({ level: 'silent' }),
    member: 'host',
    env: {},
  });
  thief = await openConnection({ ...server.as('router'), name: 'thief', requestTimeoutMs: 2_000 });
});
afterAll(async () => {
  await host.stop(2_000);
  await opened.close();
  await closeConnection(thief);
  await server.stop();
});

/** Has bytes stored under any subject, with the rights of a router: it puts them where it may, and has them answered there. */
const plantByRead = async (subject: string, bytes: Uint8Array, name: string): Promise<void> => {
  const own = `$KV.natter_hosts.health.${name}`;
  const { seq } = (await thief.request(own, bytes)).json<{ seq: number }>();
  thief.publish('$JS.API.DIRECT.GET.KV_natter_hosts', JSON.stringify({ seq }), { reply: subject });
  await thief.flush();
};
const plantByPull = async (subject: string, bytes: Uint8Array): Promise<void> => {
  await thief.request('natter.inbound.x.y', bytes);
  thief.publish('$JS.API.CONSUMER.MSG.NEXT.NATTER_INBOUND.partition-0', JSON.stringify({ batch: 1, group: 'natter' }), {
    reply: subject,
  });
  await thief.flush();
};
const stored = async (stream: string): Promise<number> => {
  const connection = await openConnection({ ...server.as('operator'), name: 'test', requestTimeoutMs: 2_000 });
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  const { state } = await streams.info(stream);
  await closeConnection(connection);
  return state.messages;
};

/** Why a command became a dead letter. */
const untilDead = async (id: string): Promise<string> => {
  const operator = await opened.as('operator');
  return vi.waitFor(
    async () => {
      for (const { seq } of await operator.deadLetters.list(10)) {
        const letter = await operator.deadLetters.get(seq);
        if (letter !== null && Buffer.from(letter.bytes).includes(id)) return letter.reason;
      }
      throw new Error(`${id} is not among the dead letters`);
    },
    { interval: 50 },
  );
};

const seenOf = async (key: SessionKey) =>
  (await ports.events.page({ after: 0, limit: 1_000 })).commits.filter((commit) => commit.key === key);

test('a commit forged by a direct read is in the stream, and no reader takes it for one', async () => {
  const key = 'agent:main:forged' as SessionKey;
  const before = await stored('NATTER_EVENTS');
  await plantByRead(subjects.event('session_opened', key), encodeCommit(commitTo(key)), 'one');
  await vi.waitFor(async () => expect(await stored('NATTER_EVENTS')).toBe(before + 1));
  expect(await seenOf(key)).toEqual([]);
  const reading = ports.events.read(key)[Symbol.asyncIterator]().next();
  await expect(reading).rejects.toThrow(/is not a commit/);
  await expect(ports.events.last(key)).rejects.toThrow(/is not a commit/);

  const id = 'command-1';
  const message = { messageId: id, text: 'hello', sender: { id: 'ann' } };
  const envelope = { id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'test' };
  await ports.commands.publish({ ...envelope, data: { type: 'post_message', sessionId: 's', message } });
  expect(await untilDead(id)).toMatch(/is not a commit/);
});

test('a commit forged by a pull comes under the subject it had, and no reader takes it for one', async () => {
  const key = 'agent:main:pulled' as SessionKey;
  const before = await stored('NATTER_EVENTS');
  await plantByPull(subjects.event('session_opened', key), encodeCommit(commitTo(key)));
  await vi.waitFor(async () => expect(await stored('NATTER_EVENTS')).toBe(before + 1));
  expect(await seenOf(key)).toEqual([]);
  expect(await ports.events.last(key)).toBeNull();
});

test('an honest commit with the same bytes is read', async () => {
  const key = 'agent:main:honest' as SessionKey;
  const honest = await openConnection({ ...server.as('session'), name: 'honest', requestTimeoutMs: 2_000 });
  await honest.request(subjects.event('session_opened', key), encodeCommit(commitTo(key)));
  await closeConnection(honest);
  expect(await seenOf(key)).toHaveLength(1);
});

test('a delivery that a direct read made up was never sent: the record before it counts, and the next one follows', async () => {
  const { custody } = await opened.as('delivery');
  const target: DeliveryTarget = { channel: 'irc', to: '#forged' };
  const record: CustodyRecord = {
    ...{ v: 1, outboundId: '1.0', outboundSeq: 1, key: 'agent:main:forged' as SessionKey, target },
    ...{ state: 'prepared', attempt: 1, at: 1 },
  };
  const plant = async (state: CustodyState): Promise<void> => {
    const before = await stored('NATTER_DELIVERIES');
    await plantByRead(subjects.delivery(state, target), custodyCodec.encode({ ...record, state }), `sent-${before}`);
    await vi.waitFor(async () => expect(await stored('NATTER_DELIVERIES')).toBe(before + 1));
  };
  await plant('delivered');
  const nobodys = await custody.last(target);
  expect(nobodys).toEqual({ record: null, seq: expect.any(Number) });
  const first = await custody.append(record, nobodys?.seq ?? 0);
  await plant('delivered');
  const last = await custody.last(target);
  expect(last).toEqual({ record, seq: (first ?? 0) + 1 });
  const sending: CustodyRecord = { ...record, state: 'sending' };
  const next = await custody.append(sending, last?.seq ?? 0);
  expect(await custody.last(target)).toEqual({ record: sending, seq: next });
});

test('a token forged by a direct read opens nothing', async () => {
  const secrets = [{ sha256: 'a'.repeat(64) }];
  const token: IssuedToken = { v: 1, id: 'forged', role: 'admin', label: '', createdAt: 1, createdBy: 'thief', secrets };
  const before = await stored('KV_natter_tokens');
  await plantByRead('$KV.natter_tokens.token.forged', issuedTokenCodec.encode(token), 'two');
  await vi.waitFor(async () => expect(await stored('KV_natter_tokens')).toBe(before + 1));
  const tokens = await ports.tokens.watch();
  expect([...tokens.all()]).toEqual([]);
  await tokens.close();
});
