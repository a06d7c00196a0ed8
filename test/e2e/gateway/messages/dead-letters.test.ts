import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startGateway } from '../../../../services/gateway/main.ts';
import { startRouter } from '../../../../services/router/main.ts';
import { type Config, configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { inboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { fold, initialState, toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { withIds } from '../../../../shared/domain/session/repeats/id-memory.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { DeadLetters } from '../../../../shared/ports/dead-letters.ts';
import { encodeCommand } from '../../../../shared/wire/codec.ts';
import { startMiniHost } from '../../../support/mini-host.ts';
import { afterwards, callerOf, config, openBroker, pathOf, ready, token } from '../setup.ts';

/** What became of messages that nobody could process, and what an operator makes of them. */

const key = 'agent:main:telegram:group:-1';
const garbage = new Uint8Array([0xc1, 0xff]);
const post = (id: string): CommandEnvelope => ({
  ...{ id, key: key as CommandEnvelope['key'], at: 1, correlationId: id, causationId: id, actor: 'test' },
  data: { type: 'append_message', sessionId: 's', message: { messageId: id, text: `said ${id}`, sender: { id: 'ann' } } },
});

/** A gateway, a router and a session host on one broker. `letters` may stand in for what the gateway does with dead letters. */
const start = async (letters: (own: DeadLetters) => Partial<DeadLetters> = () => ({})) => {
  const memory = openBroker();
  const host = await startMiniHost(memory.portsFor('host'));
  let current: Config = configSchema.parse({ ...config, session: { dmScope: 'per-peer', identityLinks: { ann: ['irc:1'] } } });
  const changing = { current: () => current };
  const log = pino({ level: 'silent' });
  const router = await startRouter({ config: changing, ports: memory.portsFor('router'), log, member: 'router' });
  const own = memory.portsFor('gateway');
  const deadLetters = { ...own.deadLetters, ...letters(own.deadLetters) };
  const gateway = await startGateway({ config: changing, ports: { ...own, deadLetters }, log, token, version: '0' });
  afterwards(() => gateway.stop(1_000));
  afterwards(() => host.close());
  afterwards(() => router.stop(1_000));
  const call = callerOf(gateway.url);
  await ready(call);

  const newest = () =>
    vi.waitFor(async () => {
      const { body } = await call('GET', '/v1/dead-letters');
      expect(body.deadLetters).not.toEqual([]);
      return body.deadLetters[0];
    });
  /** A command on a subject of another partition, as no program of ours would publish it. */
  const misplaced = async (id: string) => {
    const { partitionOf } = memory.commands;
    const of = (each: string): number => partitionOf.call(memory.commands, each);
    const elsewhere = [...Array(99).keys()].map((index) => `agent:main:${index}`).find((each) => of(each) !== of(key)) ?? '';
    memory.commands.inject(elsewhere, encodeCommand(post(id)));
    return newest();
  };
  /** What was said in the session, once all that waits is done. */
  const said = async (): Promise<string[]> => {
    await vi.waitFor(async () => expect([await own.commands.lag(), await own.inbound.lag()]).toEqual([0, 0]));
    const { status, body } = await call('GET', pathOf(key, '/messages'));
    return status === 404 ? [] : body.messages.map(({ text }: { text: string }) => text);
  };
  /** Calls a method of the RPC; its result, or the problem. */
  const rpc = async (name: string, params: object = {}) => {
    const { body } = await call('POST', '/v1/rpc', { body: { method: `deadLetters.${name}`, params } });
    return body.ok ? body.result : body;
  };
  const audited = async (kind: 'dead_letter_resent' | 'dead_letter_discarded') =>
    (await own.audit.page({ limit: 9, kind })).records.map(({ target, outcome, detail }) => ({ target, outcome, detail }));
  const change = (session: object): void => {
    current = configSchema.parse({ ...config, session });
  };
  return { memory, ports: own, call, rpc, newest, misplaced, said, audited, change };
};
const at = ({ seq }: { seq: number }, rest = ''): string => `/v1/dead-letters/${seq}${rest}`;

test('F5: garbage is shown and may be discarded with a reason, which is audited; it cannot be resent', async () => {
  const { memory, call, newest, audited } = await start();
  memory.inbound.inject('irc:x', garbage);
  const letter = await newest();
  expect(letter).toMatchObject({ service: 'router', size: garbage.byteLength });
  expect(letter).not.toHaveProperty('bytes');
  expect(letter).not.toHaveProperty('sessionKey');
  const { body } = await call('GET', at(letter));
  expect(body).toMatchObject({ message: null, bytes: Buffer.from(garbage).toString('base64') });
  expect(body.resend).toEqual({ isPossible: false, wouldRepeat: null, why: expect.stringMatching(/^it would come back: /) });
  expect(await call('POST', at(letter, '/resend'))).toMatchObject({ status: 409, body: { code: 'not_resendable' } });
  expect(await call('DELETE', at(letter))).toMatchObject({ status: 400, body: { field: 'reason' } });
  expect(await audited('dead_letter_resent')).toEqual([]);
  expect((await call('DELETE', `${at(letter)}?reason=planted`)).status).toBe(200);
  const detail = `service: router, id: ${letter.id}, reason: planted`;
  expect(await audited('dead_letter_discarded')).toEqual([{ target: `${letter.seq}`, outcome: 'ok', detail }]);
  expect((await call('GET', at(letter))).status).toBe(404);
  expect((await call('DELETE', `${at(letter)}?reason=again`)).status).toBe(404);
});

test('a command takes effect once it is resent; the letter is gone, and who did it is audited', async () => {
  const { call, misplaced, said, audited } = await start();
  const letter = await misplaced('late');
  expect(letter.sessionKey).toBe(key);
  expect(await said()).toEqual([]);
  expect((await call('GET', at(letter))).body).toMatchObject({
    ...{ sessionKey: key, message: { id: 'late', data: { message: { text: 'said late' } } } },
    resend: { isPossible: true, wouldRepeat: false, why: expect.stringContaining(key) },
  });
  const resent = await call('POST', at(letter, '/resend'));
  expect(resent).toMatchObject({ status: 200, body: { seq: letter.seq, wouldRepeat: false, duplicate: false } });
  expect(await said()).toEqual(['said late']);
  expect((await call('GET', '/v1/dead-letters')).body).toEqual({ deadLetters: [], next: null });
  expect(await audited('dead_letter_resent')).toMatchObject([{ target: `${letter.seq}`, outcome: 'ok' }]);
});

test('the RPC lists, shows, resends and discards as the paths do', async () => {
  const { memory, ports, call, rpc, misplaced, said, audited } = await start();
  const letter = await misplaced('twice');
  await ports.commands.publish(post('twice'));
  expect(await said()).toEqual(['said twice']);
  const { seq } = letter;
  expect(await rpc('list', { limit: 1 })).toEqual({ deadLetters: [letter], next: null });
  expect(await rpc('get', { seq })).toEqual((await call('GET', at(letter))).body);
  expect(await rpc('get', { seq })).toMatchObject({ message: { id: 'twice' }, resend: { isPossible: true, wouldRepeat: true } });
  expect(await rpc('resend', { seq })).toMatchObject({ seq, wouldRepeat: true, duplicate: false });
  expect(await rpc('get', { seq })).toMatchObject({ code: 'not_found', field: 'seq' });

  memory.inbound.inject('irc:x', garbage);
  await vi.waitFor(async () => expect((await rpc('list')).deadLetters).toHaveLength(1));
  const [other] = (await rpc('list')).deadLetters;
  expect(await rpc('resend', { seq: other.seq })).toMatchObject({ code: 'not_resendable' });
  expect(await rpc('discard', { seq: other.seq })).toMatchObject({ code: 'invalid', field: 'reason' });
  expect(await rpc('discard', { seq: other.seq, reason: 'planted' })).toEqual(other);
  expect(await rpc('list')).toEqual({ deadLetters: [], next: null });
  expect(await said()).toEqual(['said twice']);
  expect(await audited('dead_letter_resent')).toMatchObject([{ target: `${seq}`, outcome: 'ok' }]);
  const detail = `service: router, id: ${other.id}, reason: planted`;
  expect(await audited('dead_letter_discarded')).toEqual([{ target: `${other.seq}`, outcome: 'ok', detail }]);
});

test('what cannot be audited is not done: the letter stays', async () => {
  const { ports, call, misplaced, said } = await start();
  const letter = await misplaced('kept');
  vi.spyOn(ports.audit, 'append').mockRejectedValue(new NatterError('unavailable', 'gone'));
  for (const answer of [await call('POST', at(letter, '/resend')), await call('DELETE', `${at(letter)}?reason=spam`)])
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect((await call('GET', at(letter))).status).toBe(200);
  expect(await said()).toEqual([]);
});

test('I2: a resend of what the session has is said to be a repeat before it, and changes nothing', async () => {
  const { ports, call, misplaced, said } = await start();
  const letter = await misplaced('twice');
  await ports.commands.publish(post('twice'));
  expect(await said()).toEqual(['said twice']);
  const before = (await ports.events.info()).lastSeq;
  expect((await call('GET', at(letter))).body.resend).toMatchObject({ isPossible: true, wouldRepeat: true });
  expect((await call('POST', at(letter, '/resend'))).body).toMatchObject({ wouldRepeat: true, duplicate: false });
  expect(await said()).toEqual(['said twice']);
  expect((await ports.events.info()).lastSeq).toBe(before);
});

test('whether it is a repeat cannot be known once a session has forgotten some of its ids', async () => {
  const { ports, call, misplaced, said } = await start();
  const letter = await misplaced('long ago');
  await ports.commands.publish(post('m1'));
  await said();
  const full = withIds(
    [],
    Array.from({ length: limits.olderIds + 1 }, (_, index) => `m${index}`),
  );
  const commit = await ports.events.last(key as SessionKey);
  const { position, ...rest } = toPlain(fold(initialState, commit as RecordedCommit));
  await ports.snapshots.put(key as SessionKey, { ...rest, position: { ...position, olderIds: full } });
  expect((await call('GET', at(letter))).body.resend).toMatchObject({ isPossible: true, wouldRepeat: null });
});

test('I2, D9: what a session had long ago is still said to be a repeat', async () => {
  const { ports, call, misplaced, said } = await start();
  for (const id of ['long ago', ...Array.from({ length: limits.recentIds }, (_, index) => `m${index}`)])
    await ports.commands.publish(post(id));
  await said();
  expect((await call('GET', at(await misplaced('long ago')))).body.resend).toMatchObject({ isPossible: true, wouldRepeat: true });
});

test('I2: of two operators at once, one resend takes effect and the other is told', async () => {
  const waiting: (() => void)[] = [];
  const { call, misplaced, said } = await start((own) => ({
    remove: async (seq) => {
      // Both have published before one of them removes it.
      await new Promise<void>((go) => {
        if (waiting.push(go) === 2) for (const each of waiting) each();
      });
      return own.remove(seq);
    },
  }));
  const letter = await misplaced('once');
  const answers = await Promise.all([call('POST', at(letter, '/resend')), call('POST', at(letter, '/resend'))]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map(({ body }) => body.duplicate).sort()).toEqual([false, true]);
  expect(await said()).toEqual(['said once']);
});

test('I2: a resend that died before it removed the letter may be repeated: the queue says that it has it', async () => {
  let deaths = 1;
  const { call, misplaced, said, audited } = await start((own) => ({
    remove: async (seq) => {
      if (deaths-- > 0) throw new NatterError('unavailable', 'gone');
      return own.remove(seq);
    },
  }));
  const letter = await misplaced('again');
  expect((await call('POST', at(letter, '/resend'))).status).toBe(503);
  expect(await said()).toEqual(['said again']);
  expect((await call('GET', at(letter))).body.resend).toMatchObject({ wouldRepeat: true });
  expect((await call('POST', at(letter, '/resend'))).body).toMatchObject({ wouldRepeat: true, duplicate: true });
  expect(await said()).toEqual(['said again']);
  expect((await call('GET', at(letter))).status).toBe(404);
  expect((await audited('dead_letter_resent')).map(({ outcome }) => outcome).sort()).toEqual(['failed', 'ok', 'ok']);
});

test('an envelope that the configuration could not place is resent once it can', async () => {
  const { ports, call, newest, change } = await start();
  const said = { id: 'e1', channel: 'irc', conversation: { id: 'ann', kind: 'direct' }, sender: { id: 'ann' }, text: 'hi' };
  await ports.inbound.publish(inboundEnvelope.parse({ ...said, at: 1 }));
  const letter = await newest();
  const { resend } = (await call('GET', at(letter))).body;
  expect(resend).toMatchObject({ isPossible: false, why: expect.stringContaining('session.identityLinks') });
  expect((await call('POST', at(letter, '/resend'))).status).toBe(409);
  change({ dmScope: 'per-peer', identityLinks: { ann: ['irc:1', 'irc:ann'] } });
  expect((await call('GET', at(letter))).body.resend).toMatchObject({ isPossible: true, wouldRepeat: false });
  expect((await call('POST', at(letter, '/resend'))).status).toBe(200);
  const path = pathOf('agent:main:dm:ann', '/messages');
  await vi.waitFor(async () => expect((await call('GET', path)).body.messages?.[0]).toMatchObject({ text: 'hi' }));
});

test('F5: what belongs to a session whose history cannot be read would only come back, and is refused', async () => {
  const { memory, call, misplaced } = await start();
  memory.events.storeRaw('user_message', key as CommandEnvelope['key'], garbage);
  const letter = await misplaced('for the broken');
  const { resend } = (await call('GET', at(letter))).body;
  expect(resend).toMatchObject({ isPossible: false, why: expect.stringContaining(`the history of ${key} cannot be read`) });
  expect((await call('POST', at(letter, '/resend'))).body).toMatchObject({ code: 'not_resendable', detail: resend.why });
  expect((await call('GET', at(letter))).status).toBe(200);
});

test('I9: what delivery gave up is shown, and never sent again from here; nor what a later version wrote', async () => {
  const { ports, call } = await start();
  for (const service of ['delivery', 'constructor']) {
    const subject = 'natter.delivery.failed.hook.x';
    await ports.deadLetters.put({ id: '17-0', service, reason: 'HTTP 404', subject, at: 1, bytes: encodeCommand(post('x')) });
    const [letter] = (await call('GET', '/v1/dead-letters')).body.deadLetters;
    expect((await call('GET', at(letter))).body).toMatchObject({ service, resend: { isPossible: false } });
    expect((await call('POST', at(letter, '/resend'))).body).toMatchObject({ code: 'not_resendable' });
  }
});

test('the list is paged, newest first, without the messages; names that no letter has are not there', async () => {
  const { memory, call } = await start();
  for (let index = 0; index < 5; index++) memory.inbound.inject('irc:x', garbage);
  await vi.waitFor(async () => expect((await call('GET', '/v1/dead-letters')).body.deadLetters).toHaveLength(5));
  const pages: number[][] = [];
  for (let next: number | null = 99; next !== null; ) {
    const { body } = await call('GET', `/v1/dead-letters?limit=2&before=${next}`);
    pages.push(body.deadLetters.map(({ seq }: { seq: number }) => seq));
    next = body.next;
  }
  expect(pages).toEqual([[5, 4], [3, 2], [1]]);
  for (const name of ['0', '-1', '1e3', '6', 'x', '9999999999999999'])
    expect([name, (await call('GET', `/v1/dead-letters/${name}`)).status]).toEqual([name, 404]);
});
