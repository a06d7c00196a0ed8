import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { startSession } from '../../../../services/session/main.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { decide } from '../../../../shared/domain/session/decide/index.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { command, stateAfter } from '../../../support/domain/given.ts';
import { startServer } from '../../../support/nats.ts';
import { portsOn, provisionFor } from '../../../support/system.ts';
import { openGateway as startAccessGateway } from '../access/access-rig.ts';
import { afterwards, type Call, callerOf, openGateway, pathOf, ready, startWorld } from '../setup.ts';

const key = 'agent:main:main';
const say = (call: Call, text: string) => call('POST', pathOf(key, '/messages?wait=5'), { body: { text } });
const tagOf = async (call: Call): Promise<string> => String((await call('GET', pathOf(key))).headers.etag);

/** Every call that writes to a session, as the caller who meant it as it was would make it. */
const writing = [
  ['POST', '/messages', { text: 'hi' }, 202],
  ['POST', '/messages?wait=5', { text: 'hi' }, 200],
  ['POST', '/messages', { text: 'hi', mode: 'append' }, 202],
  ['POST', '/stop', {}, 200],
  ['POST', '/reset', {}, 200],
  ['POST', '/open', {}, 200],
  ['POST', '/compact', {}, 202],
  ['POST', '/checkpoint', {}, 202],
  ['POST', '/fork', {}, 200],
  ['PATCH', '', { displayName: 'mine' }, 200],
  ['DELETE', '', undefined, 200],
] as const;

describe('ETag', () => {
  test('is the sequence of the last commit, on the session and its state, now and then', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const [row, state, past] = await Promise.all(['', '/state', '/state?at=1'].map((rest) => call('GET', pathOf(key, rest))));
    expect([row?.headers.etag, state?.headers.etag, past?.headers.etag]).toEqual(['"2"', '"2"', '"1"']);
    expect([row?.body.seq, state?.body.position.seq, past?.body.position.seq]).toEqual([2, 2, 1]);
  });

  test('answers 304 without a body until the session moves', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const tag = await tagOf(call);
    const get = (given: string, rest = '') => call('GET', pathOf(key, rest), { headers: { 'if-none-match': given } });
    for (const known of [tag, `W/${tag}`, `"1", ${tag}`, '*']) {
      for (const rest of ['', '/state'])
        expect(await get(known, rest)).toMatchObject({ status: 304, text: '', headers: { etag: tag } });
    }
    for (const other of ['"1"', 'nonsense', '2']) expect((await get(other)).status).toBe(200);
    await say(call, 'two');
    expect((await get(tag)).status).toBe(200);
  });
});

describe('If-Match', () => {
  test.each(writing)(
    '%s %s is done where the session stands there, and 412 precondition_failed where it has moved',
    async (method, rest, body, status) => {
      const { call, ports } = await startWorld();
      await say(call, 'one');
      const write = (match: string) => call(method, pathOf(key, rest), { headers: { 'if-match': match }, ...(body && { body }) });
      const before = (await ports.events.info()).lastSeq;
      for (const moved of ['"1"', '"3"', 'W/"2"', '"x"', '"1", "3"'])
        expect((await write(moved)).body).toMatchObject({ status: 412, code: 'precondition_failed' });
      expect((await ports.events.info()).lastSeq).toBe(before);
      expect(await write('"1", "2"')).toMatchObject({ status });
    },
  );

  test.each(['17', '"17', '', '"1" "2"', 'W/17', '*, "1"'])('%j is refused as invalid', async (match) => {
    const { call } = await startWorld();
    await say(call, 'one');
    const { body } = await call('POST', pathOf(key, '/stop'), { headers: { 'if-match': match }, body: {} });
    expect(body).toMatchObject({ status: 400, code: 'invalid', field: 'if-match' });
  });

  test('of two calls that mean the same session one is done, whichever way the gateway has seen it', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const tag = await tagOf(call);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        call('POST', pathOf(key, '/messages'), { headers: { 'if-match': tag }, body: { text: `${index}`, mode: 'append' } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(7).fill(412)]);
    const { messages } = (await call('GET', pathOf(key, '/messages'))).body;
    expect(messages).toHaveLength(3);
  });

  test('a repeat with its Idempotency-Key is told of its first call, though that has moved the session', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const headers = { 'if-match': await tagOf(call), 'idempotency-key': 'once' };
    const post = () => call('POST', pathOf(key, '/messages?wait=5'), { headers, body: { text: 'two' } });
    const first = await post();
    expect(first.body).toMatchObject({ status: 'ok', reply: 'you said: two' });
    expect(await post()).toMatchObject({ status: 200, body: first.body });
    const stop = () => call('POST', pathOf(key, '/reset'), { headers: { ...headers, 'if-match': '"4"' }, body: {} });
    expect((await stop()).body).toMatchObject({ outcome: 'accepted' });
    expect((await stop()).body).toMatchObject({ outcome: 'duplicate' });
  });

  test('a repeat of a message whose turn has failed is told what its first call was: that it was taken', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const headers = { 'if-match': await tagOf(call), 'idempotency-key': 'once' };
    const post = (query = '') => call('POST', pathOf(key, `/messages${query}`), { headers, body: { text: 'fail' } });
    const first = await post('?wait=5');
    expect(first.body).toMatchObject({ status: 'error', error: { code: 'model_error' } });
    expect(await post('?wait=5')).toMatchObject({ status: 200, body: first.body });
    expect(await post()).toMatchObject({ status: 202, body: { status: 'accepted', duplicate: true } });
  });

  test('"*" means a session that is there, and "0" one that is not', async () => {
    const { call } = await startWorld();
    const open = (match: string) => call('POST', pathOf(key, '/open'), { headers: { 'if-match': match }, body: {} });
    expect((await open('*')).status).toBe(412);
    expect((await open('"0"')).body).toMatchObject({ outcome: 'accepted' });
    expect((await open('"0"')).status).toBe(412);
    expect((await open('*')).status).toBe(200);
  });

  test('does not go with a message for later', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const body = { text: 'later', sendAt: Date.now() + 60_000 };
    const answer = await call('POST', pathOf(key, '/messages'), { headers: { 'if-match': '"2"' }, body });
    expect(answer.body).toMatchObject({ code: 'invalid', field: 'if-match' });
  });

  test('A8/89: tells strangers nothing: theirs is the answer of a session that is not there', async () => {
    const gateway = await startAccessGateway();
    const group = 'agent:main:telegram:group:1';
    await gateway.said(group, ['telegram:1']);
    for (const match of ['"1"', '"9"', '*']) {
      const headers = { 'if-match': match };
      for (const method of ['PATCH', 'DELETE', 'POST'] as const) {
        const path = pathOf(group, method === 'POST' ? '/stop' : '');
        const body = method === 'PATCH' ? { displayName: 'x' } : {};
        expect((await gateway.as.eve(method, path, { headers, ...(method !== 'DELETE' && { body }) })).body).toMatchObject({
          status: 404,
          code: 'not_found',
        });
      }
    }
  });
});

test('A5/70: on a real broker, of many calls through two gateways that mean the same session one is done', async () => {
  const server = await startServer();
  afterwards(() => server.stop());
  const real = configSchema.parse({ nats: { partitions: 4 } });
  await provisionFor(server, { prefix: real.prefix, partitions: 4 });
  const log = pino({ level: 'silent' });
  const opened = portsOn(server, real);
  afterwards(() => opened.close());
  const host = await startSession({ config: real, ports: await opened.as('session'), log, member: 'host', env: {} });
  afterwards(() => host.stop(2_000));
  const gateways = await Promise.all([1, 2].map(async () => callerOf((await openGateway(await opened.as('gateway'))).url)));
  await Promise.all(gateways.map(ready));
  const [one, two] = gateways as [Call, Call];
  expect((await say(one, 'begin')).body.status).toBe('ok');
  for (let round = 1; round <= 3; round++) {
    const tag = await tagOf(one);
    const posts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? one : two)('POST', pathOf(key, '/messages'), {
        headers: { 'if-match': tag },
        body: { text: `${round}.${index}`, mode: 'append' },
      }),
    );
    const statuses = (await Promise.all(posts)).map((answer) => answer.status);
    expect(statuses.sort()).toEqual([202, ...Array(19).fill(412)]);
    expect((await one('GET', pathOf(key, '/messages'))).body.messages).toHaveLength(2 + round);
    // What became of it in this round, by the broker's own time too.
    const diff = async (from: string | number) => (await one('GET', pathOf(key, `/diff?from=${from}`))).body;
    const { from, to, events, changes } = await diff(tag.slice(1, -1));
    expect([from.seq, to.rev - from.rev, events.length]).toEqual([Number(tag.slice(1, -1)), 1, 1]);
    expect(changes).toContainEqual({ path: 'messages', before: 1 + round, after: 2 + round });
    expect(await diff(new Date(Date.now() + 60_000).toISOString())).toMatchObject({ from: to, to, changes: [], events: [] });
  }
}, 90_000);

describe('PATCH /v1/sessions/{key}', () => {
  test('A9/96-97: sets and unsets what people set, and refuses what changes nothing', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const patch = (body: object, headers = {}) => call('PATCH', pathOf(key), { body, headers });
    expect(await patch({ displayName: 'mine', sendPolicy: 'deny' })).toMatchObject({
      status: 200,
      body: { key, outcome: 'accepted', settings: { displayName: 'mine', sendPolicy: 'deny' } },
    });
    expect((await patch({ sendPolicy: null })).body.settings).toEqual({ displayName: 'mine' });
    const once = { 'idempotency-key': 'a' };
    expect((await patch({ displayName: 'again' }, once)).body.runId).toBe(
      (await patch({ displayName: 'again' }, once)).body.runId,
    );
    expect((await patch({})).body).toMatchObject({ code: 'invalid', field: 'body' });
    expect((await patch({ key: 'other' })).body).toMatchObject({ code: 'invalid', field: 'key' });
    expect((await patch({ sendPolicy: 'maybe' })).body).toMatchObject({ code: 'invalid', field: 'sendPolicy' });
  });
});

describe('the session itself', () => {
  test.each(['post m2', 'append m2', 'stop', 'reset', 'open', 'compact', 'delete key', 'send deny'])(
    'A4, I5: "%s" is refused unless the session stands where the command means it to be',
    (row) => {
      const state = stateAfter('append m1', 'append m3');
      const at = (ifSeq: number) => decide({ ...command(row), ifSeq }, state);
      const { seq } = state.position;
      const accepted = (given: ReturnType<typeof at>): readonly SessionEvent[] => ('accept' in given ? given.accept : []);
      for (const other of [0, seq - 1, seq + 1]) {
        if (other !== seq) expect(at(other)).toMatchObject({ refuse: 'precondition_failed' });
      }
      expect(at(seq)).toEqual(decide(command(row), state));
      expect(accepted(at(seq)).length + (row === 'stop' || row === 'open' ? 1 : 0)).toBeGreaterThan(0);
    },
  );
});
