import { describe, expect, test, vi } from 'vitest';
import { recentMessages } from '../../../../shared/runtime/session-tools/recent-messages.ts';
import { pathOf } from '../setup.ts';
import { openGateway } from './access-rig.ts';

const direct = 'agent:main:telegram:default:dm:1';
const group = 'agent:main:telegram:group:g';
const remove = (key: string, mode = '') => ['DELETE', pathOf(key, mode)] as const;

describe('DELETE /v1/sessions/{key}', () => {
  test('A8/87, C9: a direct session at rest is deleted by who takes part, and is nowhere afterwards', async () => {
    const { as, said } = await openGateway();
    await said(direct, ['telegram:1']);
    const { status, body } = await as.ann(...remove(direct));
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'ok', outcome: 'accepted', rev: 2 } });
    for (const rest of ['', '/messages', '/events', '/commits', '/state', '/state?at=1']) {
      expect([rest, (await as.owner('GET', pathOf(direct, rest))).status]).toEqual([rest, 404]);
    }
    await vi.waitFor(async () => expect((await as.owner('GET', '/v1/sessions?status=all')).body.sessions).toEqual([]));
    expect((await as.ann(...remove(direct))).status).toBe(404);
  });

  test('C9: its next message begins it anew; what was before is shown to the owner alone', async () => {
    const { as, said } = await openGateway();
    await said(direct, ['telegram:1', 'telegram:2'], 'old');
    const run = 'command-1';
    await as.owner(...remove(direct));
    await said(direct, ['telegram:1'], 'new');
    const messagesFor = async (name: 'ann' | 'owner', query = '') =>
      (await as[name]('GET', pathOf(direct, `/messages${query}`))).body.messages.map(({ messageId }: any) => messageId);
    expect(await messagesFor('ann')).toEqual(['new-telegram:1']);
    expect(await messagesFor('ann', '?after=0')).toEqual(['new-telegram:1']);
    expect(await messagesFor('owner')).toEqual(['old-telegram:1', 'old-telegram:2', 'new-telegram:1']);
    const eventsFor = async (path: string) =>
      new Set((await as.ann('GET', path)).body.events.map(({ seq }: { seq: number }) => seq));
    expect(await eventsFor(pathOf(direct, '/events?after=0'))).toEqual(new Set([4]));
    expect(await eventsFor('/v1/events?after=0')).toEqual(new Set([4]));
    expect((await as.ann('GET', pathOf(direct, '/commits?after=0'))).body.commits).toHaveLength(1);
    expect((await as.ann('GET', pathOf(direct, '/state?at=1'))).body).toMatchObject({ status: 404, field: 'at' });
    expect((await as.ann('GET', pathOf(direct, `/runs/${run}`))).status).toBe(404);
    expect((await as.owner('GET', pathOf(direct, `/runs/${run}`))).status).toBe(200);
    expect((await as.bob('GET', pathOf(direct))).status).toBe(404);
    expect((await as.ann('GET', pathOf(direct))).body).toMatchObject({ generation: 2, participants: ['telegram:1'] });
  });

  test.each([true, false])('A8/87: no list of events has it any more, however late the index is (kept up: %s)', async (index) => {
    const { as, said, stream } = await openGateway({ index });
    await said(direct, ['telegram:1']);
    // The gateway has heard of it, and maybe not yet of its end.
    if (index) await vi.waitFor(async () => expect((await as.ann('GET', '/v1/sessions')).body.sessions).toHaveLength(1));
    await as.ann(...remove(direct));
    await said(group, ['telegram:1']);
    const { events } = (await as.ann('GET', '/v1/events?after=0')).body;
    expect(new Set(events.map(({ key }: any) => key))).toEqual(new Set([group]));
    const opened = await stream('ann', '/v1/events?after=0');
    await vi.waitFor(() => expect(opened.messages.map(({ data }) => JSON.parse(data).key)).toContain(group));
    expect(opened.messages.map(({ data }) => JSON.parse(data).key)).not.toContain(direct);
  });

  test('A8/87, B32: who repeats a call of then is not told what was answered then', async () => {
    const { as } = await openGateway();
    await as.ann('POST', pathOf(direct, '/open'));
    const params = { sessionKey: direct, message: 'secret', idempotencyKey: 'once', timeoutSeconds: 5 };
    const again = () => as.ann('POST', '/v1/rpc', { body: { method: 'agent', params: { ...params, timeoutSeconds: 0.1 } } });
    const noWait = { sessionKey: direct, message: 'secret', idempotencyKey: 'once' };
    expect((await as.ann('POST', '/v1/rpc', { body: { method: 'agent', params } })).text).toContain('you said: secret');
    expect((await again()).text).toContain('you said: secret');
    await as.ann(...remove(direct));
    expect((await again()).text).not.toContain('secret');
    expect((await as.ann('POST', '/v1/rpc', { body: { method: 'chat.send', params: noWait } })).text).not.toContain('secret');
  });

  test('A8/87: a history that is asked for by an older row ends with its session', async () => {
    const { ports, said, done } = await openGateway();
    await said(group, ['telegram:1']);
    const through = (await ports.events.last(group as never))?.seq ?? 0;
    const history = () => recentMessages(ports, { key: group as never, through, limit: 9, characters: 999, includeTools: true });
    expect(await history()).toHaveLength(1);
    await said(group, ['telegram:1']);
    expect(await history()).toHaveLength(2);
    await done(group, { type: 'delete_session', mode: 'key', reason: 'test' });
    await said(group, ['telegram:2']);
    expect(await history()).toEqual([]);
  });

  test.each(['running', 'awaiting_approval'])('A8/87: one that is %s is refused', async (status) => {
    const { as, host, done } = await openGateway();
    host.hold();
    const { runId } = (
      await as.owner('POST', pathOf(direct, '/messages'), { body: { text: 'hi', sender: { id: 'telegram:1' } } })
    ).body;
    await vi.waitFor(async () => expect((await as.ann('GET', pathOf(direct))).body.status).toBe('running'));
    if (status === 'awaiting_approval') {
      const turn = { id: runId, attempt: 1 };
      await done(direct, { type: 'request_approval', turn, approvalId: 'a', action: 'x', expiresAt: 4e12 });
    }
    for (const name of ['ann', 'owner'] as const) {
      expect((await as[name](...remove(direct))).body).toMatchObject({ status: 409, code: 'session_busy' });
    }
    expect((await as.ann('GET', pathOf(direct))).body.status).toBe(status);
  });

  test('A8/87, I2: the same call again, with its key, gets the same answer', async () => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1']);
    await said(direct, ['telegram:1']);
    const once = { headers: { 'idempotency-key': 'once' } };
    for (const _ of ['first', 'again']) {
      expect((await as.ann('DELETE', pathOf(group), once)).body).toMatchObject({ status: 409, code: 'session_retained' });
      expect((await as.ann('POST', pathOf(direct, '/stop'), once)).body).toMatchObject({ status: 'ok' });
    }
    expect((await as.ann('POST', pathOf(direct, '/reset'), once)).body).toMatchObject({ outcome: 'accepted' });
    expect((await as.ann('POST', pathOf(direct, '/reset'), once)).body).toMatchObject({ status: 'ok', outcome: 'duplicate' });
  });

  const shared: readonly [what: string, key: string, people: readonly string[], session?: object][] = [
    ['a direct session of two people', direct, ['telegram:1', 'telegram:2']],
    ['a direct session of a person and the owner', direct, ['telegram:1', 'irc:boss']],
    ['the main session', 'agent:main:main', ['telegram:1']],
    ['a main session by another name', 'agent:main:home', ['telegram:1'], { mainKey: 'home' }],
    ['the global session', 'agent:main:global', ['telegram:1'], { scope: 'global' }],
  ];
  test.each(shared)("A8/87: %s is everybody's who is in it, so the owner alone deletes it", async (_, key, people, session) => {
    const { as, said } = await openGateway({ session });
    await said(key, people);
    const byName = { body: { method: 'sessions.delete', params: { key } } };
    for (const answer of [await as.ann(...remove(key)), await as.ann('POST', '/v1/rpc', byName)]) {
      expect(answer.body).toMatchObject({ status: 403, code: 'forbidden', detail: expect.stringContaining('several people') });
    }
    expect((await as.eve(...remove(key))).status).toBe(404);
    expect((await as.ann('GET', pathOf(key))).status).toBe(200);
    expect((await as.owner(...remove(key))).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
  });

  test('A8/87, A5/66: several ids of one person are one person, and a program is none', async () => {
    const { as, said } = await openGateway();
    await said(direct, ['telegram:2', 'discord:2']);
    await as.owner('POST', pathOf(direct, '/messages?wait=5'), { body: { text: 'hi' } });
    expect((await as.bob(...remove(direct))).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
  });

  test('A8/88: a group is retained, whoever asks; its operator deletes the key, running or not', async () => {
    const { as, host } = await openGateway();
    host.hold();
    await as.owner('POST', pathOf(group, '/messages'), { body: { text: 'hi', sender: { id: 'telegram:1' } } });
    await vi.waitFor(async () => expect((await as.ann('GET', pathOf(group))).body.status).toBe('running'));
    for (const name of ['ann', 'owner'] as const) {
      expect((await as[name](...remove(group))).body).toMatchObject({ status: 409, code: 'session_retained' });
    }
    expect((await as.ann(...remove(group, '?mode=key'))).body).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await as.owner(...remove(group, '?mode=key'))).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
    expect((await as.ann('GET', pathOf(group))).status).toBe(404);
  });
});
