import { describe, expect, test, vi } from 'vitest';
import { afterwards, callerOf, config, openGateway, pathOf, ready, startWorld } from '../setup.ts';

const key = 'agent:main:main';
const post = pathOf(key, '/messages');

describe('POST messages', () => {
  test('accepts a message once it is stored, and its run can be read (A10/118)', async () => {
    const { call } = await startWorld();
    const { status, body } = await call('POST', post, { body: { text: 'hello' } });
    expect(status).toBe(202);
    expect(body).toEqual({ runId: expect.any(String), status: 'accepted', duplicate: false });
    const run = await call('GET', pathOf(key, `/runs/${body.runId}?wait=5`));
    expect(run.body).toEqual({ runId: body.runId, status: 'ok', reply: 'you said: hello' });
  });

  test('waits for the reply (A10/119)', async () => {
    const { call } = await startWorld();
    const { status, body } = await call('POST', `${post}?wait=5`, { body: { text: 'hello' } });
    expect(status).toBe(200);
    expect(body).toEqual({ runId: expect.any(String), status: 'ok', reply: 'you said: hello' });
  });

  test('tells that the wait is over; the run goes on and ends on any replica (A10/120, 122)', async () => {
    const { call, host, memory } = await startWorld();
    host.hold();
    const { status, body } = await call('POST', `${post}?wait=0.05`, { body: { text: 'slow' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'timeout', error: { code: 'timeout' } });
    const other = callerOf((await openGateway(memory.portsFor('gateway-2'))).url);
    await ready(other);
    expect((await other('GET', pathOf(key, `/runs/${body.runId}`))).body.status).toBe('running');
    const waiting = other('GET', pathOf(key, `/runs/${body.runId}?wait=5`));
    await host.release();
    expect((await waiting).body).toMatchObject({ status: 'ok', reply: 'you said: slow' });
  });

  test('tells why a run failed (A10/121)', async () => {
    const { call } = await startWorld();
    const { status, body } = await call('POST', `${post}?wait=5`, { body: { text: 'fail please' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'error', error: { code: 'model_error', message: 'the model would not' } });
  });

  test('gives the same run for the same Idempotency-Key, and another in another session', async () => {
    const { call } = await startWorld();
    const headers = { 'idempotency-key': 'once' };
    const first = await call('POST', `${post}?wait=5`, { body: { text: 'hello' }, headers });
    const again = await call('POST', `${post}?wait=5`, { body: { text: 'hello' }, headers });
    expect(again.body).toEqual(first.body);
    const { body } = await call('POST', post, { body: { text: 'hello' }, headers });
    expect(body).toEqual({ runId: first.body.runId, status: 'accepted', duplicate: true });
    const elsewhere = await call('POST', `${pathOf('agent:main:other', '/messages')}?wait=5`, {
      body: { text: 'hello' },
      headers,
    });
    expect(elsewhere.body.status).toBe('ok');
    expect(elsewhere.body.runId).not.toBe(first.body.runId);
    expect((await call('GET', post)).body.messages).toHaveLength(2);
  });

  test('does not add a message id twice, and says so to who waits (I2)', async () => {
    const { call } = await startWorld();
    await call('POST', `${post}?wait=5`, { body: { text: 'one', messageId: 'm1' } });
    const { body } = await call('POST', `${post}?wait=5`, { body: { text: 'two', messageId: 'm1' } });
    expect(body).toMatchObject({ status: 'error', error: { code: 'duplicate_message' } });
    expect((await call('GET', post)).body.messages).toHaveLength(2);
  });

  test('appends without a turn (A5/69)', async () => {
    const { call } = await startWorld();
    const { body } = await call('POST', `${post}?wait=5`, { body: { text: 'note', mode: 'append' } });
    expect(body).toMatchObject({ status: 'ok', reply: null });
    const { messages } = (await call('GET', post)).body;
    expect(messages).toMatchObject([{ role: 'user', text: 'note', sender: { id: 'api', role: 'program' } }]);
    expect(messages[0]).not.toHaveProperty('runId');
  });

  test('schedules a message for later', async () => {
    const { call } = await startWorld();
    const sendAt = Date.now() + 300;
    const { status, body } = await call('POST', post, { body: { text: 'later', sendAt } });
    expect(status).toBe(202);
    expect(body).toEqual({ runId: expect.any(String), status: 'scheduled', sendAt });
    expect((await call('GET', pathOf(key, `/runs/${body.runId}`))).body.status).toBe('scheduled');
    const run = await call('GET', pathOf(key, `/runs/${body.runId}?wait=10`));
    expect(run.body).toMatchObject({ status: 'ok', reply: 'you said: later' });
  });

  test('refuses when the queue of the session is full, before anything is stored (I11)', async () => {
    const { call, host, ports } = await startWorld();
    host.hold();
    const { limit } = config.session.queue;
    for (let sent = 0; sent <= limit; sent++) await call('POST', post, { body: { text: `message ${sent}` } });
    await vi.waitFor(async () => expect((await ports.index.get(key as never))?.queuedTurns).toBe(limit));
    const before = (await ports.events.info()).lastSeq;
    await vi.waitFor(async () => {
      const { status, body, headers } = await call('POST', post, { body: { text: 'one too many' } });
      expect(status).toBe(429);
      expect(body).toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
      expect(headers['retry-after']).toBe('1');
    });
    expect((await ports.events.info()).lastSeq - before).toBeLessThanOrEqual(1);
    await host.release();
  });

  test('a caller who leaves does not stop the turn (A10/122)', async () => {
    const { call, host, ports } = await startWorld();
    host.hold();
    const leaving = new AbortController();
    const waiting = call('POST', `${post}?wait=60`, { body: { text: 'hello' }, signal: leaving.signal }).catch(() => 'left');
    await vi.waitFor(async () => expect((await ports.events.info()).lastSeq).toBe(1));
    leaving.abort();
    expect(await waiting).toBe('left');
    await host.release();
    await vi.waitFor(async () => expect((await call('GET', post)).body.messages).toHaveLength(2));
  });
});

describe('stop, reset, open', () => {
  test('are answered by the session (A11/125, A4/53, A5/64)', async () => {
    const { call, host } = await startWorld();
    expect((await call('POST', pathOf(key, '/reset'), { body: {} })).body).toMatchObject({
      status: 404,
      code: 'session_unknown',
    });
    expect((await call('POST', pathOf(key, '/open'))).body).toMatchObject({ status: 'ok', outcome: 'accepted', rev: 1 });
    host.hold();
    const { body: run } = await call('POST', post, { body: { text: 'hello' } });
    await vi.waitFor(() => expect(host.state(key as never).machine.value).toBe('running'));
    expect((await call('POST', pathOf(key, '/stop'), { body: { reason: 'enough' } })).body).toMatchObject({
      outcome: 'accepted',
    });
    expect((await call('GET', pathOf(key, `/runs/${run.runId}`))).body).toMatchObject({
      status: 'error',
      error: { code: 'aborted', message: 'enough' },
    });
    expect((await call('POST', pathOf(key, '/stop'))).body).toMatchObject({ status: 'ok', outcome: 'nothing' });
    expect((await call('POST', pathOf(key, '/reset'))).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
    expect((await call('GET', pathOf(key))).body).toMatchObject({ generation: 2, messageCount: 0 });
  });

  test('a repeated call with an Idempotency-Key takes effect once', async () => {
    const { call } = await startWorld();
    const headers = { 'idempotency-key': 'reset-1' };
    await call('POST', `${post}?wait=5`, { body: { text: 'hello' } });
    expect((await call('POST', pathOf(key, '/reset'), { headers })).body.outcome).toBe('accepted');
    expect((await call('POST', pathOf(key, '/reset'), { headers })).body.outcome).toBe('duplicate');
    expect((await call('GET', pathOf(key))).body.generation).toBe(2);
  });
});

describe('POST /v1/inbound', () => {
  test('stores the envelope and recognises it again', async () => {
    const { call, memory } = await startWorld();
    const seen: unknown[] = [];
    const router = memory.portsFor('router');
    const taken = await router.inbound.consume({
      member: 'router',
      handle: async ({ message }) => {
        seen.push(message);
        return { kind: 'done' };
      },
    });
    afterwards(() => taken.close());
    const envelope = {
      id: 'irc:1',
      channel: 'irc',
      conversation: { id: '#x', kind: 'group' },
      sender: { id: 'ann' },
      text: 'hi',
    };
    const defaults = { mentioned: false, directed: false };
    const first = await call('POST', '/v1/inbound', { body: envelope });
    expect(first.status).toBe(202);
    expect(first.body).toEqual({ id: 'irc:1', status: 'accepted', duplicate: false });
    expect((await call('POST', '/v1/inbound', { body: envelope })).body.duplicate).toBe(true);
    await vi.waitFor(() => expect(seen).toEqual([{ ...envelope, ...defaults, at: expect.any(Number) }]));
  });
});
