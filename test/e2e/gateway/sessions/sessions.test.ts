import { describe, expect, test, vi } from 'vitest';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { fold, initialState, toPlain, toShown } from '../../../../shared/domain/session/fold/evolve.ts';
import { encodeCommit } from '../../../../shared/wire/codec.ts';
import { type Call, pathOf, startWorld } from '../setup.ts';

const key = 'agent:main:main';
const [one, two, three] = ['agent:main:cli:1', 'agent:main:cli:2', 'agent:main:cli:3'];
const say = (call: Call, text: string, to = key) => call('POST', pathOf(to, '/messages?wait=5'), { body: { text } });

describe('GET /v1/sessions', () => {
  test('lists newest first, page by page, without internal keys (A3/40, A12)', async () => {
    const { call, ports } = await startWorld();
    const keys = [1, 2, 3, 4, 5].map((number) => `agent:main:cli:${number}`);
    for (const one of ['global', 'agent:main:unknown', ...keys]) await say(call, 'hello', one);
    const { lastSeq } = await ports.events.info();
    await vi.waitFor(async () =>
      expect((await call('GET', '/v1/sessions')).body.sessions).toMatchObject([{ seq: lastSeq }, {}, {}, {}, {}]),
    );
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `/v1/sessions?limit=2${cursor}`);
      seen.push(...body.sessions.map((row: { key: string }) => row.key));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    const rows = (await call('GET', '/v1/sessions')).body.sessions;
    expect(seen).toEqual(rows.map((row: { key: string }) => row.key));
    expect([...seen].sort()).toEqual(keys);
    const times = rows.map((row: { updatedAt: number }) => row.updatedAt);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('hides inactive sessions unless asked for, and old ones on request (A5/63)', async () => {
    const { call, ports } = await startWorld();
    for (const key of [one, two, three]) await say(call, 'hello', key);
    await vi.waitFor(async () => expect((await call('GET', '/v1/sessions')).body.sessions).toHaveLength(3));
    const row = await ports.index.get(one as never);
    const old = await ports.index.get(two as never);
    if (!row || !old) throw new Error('no rows');
    await ports.index.put(
      [
        { ...row, status: 'inactive', seq: row.seq + 100 },
        { ...old, updatedAt: 1, seq: old.seq + 100 },
      ],
      200,
    );
    const keysOf = async (query: string) =>
      (await call('GET', `/v1/sessions${query}`)).body.sessions.map((one: { key: string }) => one.key);
    await vi.waitFor(async () => expect(await keysOf('')).toEqual([three, two]));
    expect(await keysOf('?status=inactive')).toEqual([one]);
    expect(await keysOf('?status=idle&activeMinutes=5')).toEqual([three]);
    expect((await keysOf('?status=all')).sort()).toEqual([one, two, three]);
    expect(await keysOf('?status=running')).toEqual([]);
  });
});

test('GET /v1/sessions shows what the log has, however late the index is (A2/17)', async () => {
  const { call } = await startWorld({ index: false });
  for (const text of ['hello', 'are you there?']) await say(call, text);
  await vi.waitFor(async () => {
    const { sessions } = (await call('GET', '/v1/sessions')).body;
    expect(sessions).toMatchObject([{ key, messageCount: 4, status: 'idle' }]);
  });
});

describe('GET /v1/sessions/{key}', () => {
  test('is up to date with the log however late the index is (A2/17)', async () => {
    const { call } = await startWorld({ index: false });
    await say(call, 'one');
    await say(call, 'two');
    expect((await call('GET', pathOf(key))).body).toMatchObject({
      key,
      status: 'idle',
      messageCount: 4,
      completedTurns: 2,
      lastMessagePreview: 'you said: two',
      seq: 4,
    });
  });

  test('messages are paged from the log', async () => {
    const { call } = await startWorld();
    for (const text of ['one', 'two', 'fail three']) await say(call, text);
    const path = pathOf(key, '/messages');
    const { body } = await call('GET', path);
    expect(body.messages.map(({ role, text }: any) => `${role}: ${text}`)).toEqual([
      'user: one',
      'assistant: you said: one',
      'user: two',
      'assistant: you said: two',
      'user: fail three',
    ]);
    expect(body).toMatchObject({ more: false, next: '6' });
    expect(body.messages[0]).toMatchObject({ id: '1.1', seq: 1, runId: expect.any(String), sender: { id: 'api' } });
    const seen: unknown[] = [];
    for (let after = '0', more = true; more; ) {
      const page = (await call('GET', `${path}?after=${after}&limit=2`)).body;
      seen.push(...page.messages);
      ({ next: after, more } = page);
    }
    expect(seen).toEqual(body.messages);
  });

  test('events are paged with a cursor that may be in the middle of a commit', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const path = pathOf(key, '/events');
    const all = (await call('GET', path)).body.events;
    expect(all.map(({ id }: any) => id)).toEqual(['1.0', '1.1', '1.2', '2.0', '2.1', '2.2']);
    const page = (await call('GET', `${path}?limit=2`)).body;
    expect(page).toMatchObject({ next: '1.1', more: true });
    const rest = (await call('GET', `${path}?after=${page.next}`)).body;
    expect([...page.events, ...rest.events]).toEqual(all);
    expect((await call('GET', `${path}?after=1`)).body.events[0].id).toBe('2.0');
    expect((await call('GET', `${path}?after=2.2`)).body).toMatchObject({ events: [], next: '2', more: false });
  });

  test('commits and state agree: log, snapshot and tail, and every point of the past (I4)', async () => {
    const { call, ports, host } = await startWorld();
    for (const text of ['one', 'two', 'fail three']) await say(call, text);
    const { commits } = (await call('GET', pathOf(key, '/commits'))).body as { commits: RecordedCommit[] };
    expect(commits.map(({ rev }) => rev)).toEqual([1, 2, 3, 4, 5, 6]);
    let state = initialState;
    for (const commit of commits) {
      state = fold(state, commit);
      const at = await call('GET', pathOf(key, `/state?at=${commit.seq}`));
      expect(at.body).toEqual({ key, ...toShown(toPlain(state)), from: 'log' });
    }
    const now = await call('GET', pathOf(key, '/state'));
    expect(now.body).toEqual({ key, ...toShown(toPlain(host.state(key as never))), from: 'log' });

    const middle = commits.slice(0, 3).reduce(fold, initialState);
    await ports.snapshots.put(key as never, toPlain(middle));
    expect((await call('GET', pathOf(key, '/state'))).body).toEqual({ ...now.body, from: 'snapshot' });

    const { position } = toPlain(middle);
    await ports.snapshots.put(key as never, { ...toPlain(middle), position: { ...position, rev: 1 } });
    expect((await call('GET', pathOf(key, '/state'))).body).toEqual(now.body);
    const future = new Date(Date.now() + 60_000).toISOString();
    expect((await call('GET', pathOf(key, `/state?at=${future}`))).body).toEqual(now.body);
    const past = await call('GET', pathOf(key, '/state?at=2001-01-01'));
    expect(past.body).toMatchObject({ status: 404, code: 'not_found', field: 'at' });
  });

  test('F13: a history with a hole is damaged alone', async () => {
    const { call, ports } = await startWorld();
    await say(call, 'hello');
    const hole = {
      v: 1,
      id: 'c',
      key: 'agent:main:broken',
      rev: 7,
      sessionId: 's',
      epoch: 0,
      at: 1,
      correlationId: 'c',
      causationId: 'c',
      actor: 'test',
      command: { id: 'c', seq: null, incarnation: null },
      events: [{ type: 'session_reopened', v: 1 }],
    } as const;
    expect(encodeCommit(hole as never).byteLength).toBeGreaterThan(0);
    await ports.events.append(hole as never, 0);
    const { status, body } = await call('GET', pathOf('agent:main:broken', '/state'));
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'damaged' });
    expect((await say(call, 'still here')).body.status).toBe('ok');
  });
});
