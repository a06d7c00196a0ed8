import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkpointCommand } from '../../../../services/cli/commands/sessions/checkpoint.ts';
import { forkCommand } from '../../../../services/cli/commands/sessions/fork.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { natterWith } from '../../../support/natter.ts';
import { openGateway as startAccessGateway } from '../access/access-rig.ts';
import { type Call, callerOf, config, openGateway, pathOf, startWorld, token } from '../setup.ts';

const key = 'agent:main:main';
const say = async (call: Call, text: string) =>
  (await call('POST', pathOf(key, '/messages?wait=5'), { body: { text } })).body.reply;
const fork = (call: Call, body: object = {}, headers: Record<string, string> = {}) =>
  call('POST', pathOf(key, '/fork'), { body, headers });
const row = async (call: Call) => (await call('GET', pathOf(key))).body;

describe('POST /v1/sessions/{key}/fork', () => {
  test('B21: answers with the generation that goes on from there', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const { seq, rev, sessionId } = await row(call);
    await say(call, 'two');
    const { status, body } = await fork(call, { atSeq: seq });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { key, status: 'ok', outcome: 'accepted', generation: 2, forkedFrom: { sessionId, seq, rev } },
    });
    expect(body.sessionId).not.toBe(sessionId);
    expect(await row(call)).toMatchObject({ sessionId: body.sessionId, generation: 2, messageCount: 0, seq: body.seq });
  });

  test('B21: by a time, and without either from where it stands; the history stays', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const { commits: before } = (await call('GET', pathOf(key, '/commits'))).body;
    const last = before.at(-1);
    const atTime = new Date(last.recordedAt + 1).toISOString();
    expect((await fork(call)).body.forkedFrom).toMatchObject({ seq: last.seq, rev: last.rev });
    expect((await fork(call, { atTime })).body.forkedFrom).toMatchObject({ seq: last.seq, rev: last.rev });
    expect((await fork(call, { atSeq: 10_000 })).body).toMatchObject({ generation: 4, forkedFrom: { rev: last.rev + 2 } });
    const { commits } = (await call('GET', pathOf(key, '/commits'))).body;
    expect(commits.slice(0, before.length)).toEqual(before);
  });

  test('B21: a sequence of another session means the last commit before it', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const { seq } = await row(call);
    await call('POST', pathOf('agent:main:cli:other', '/messages?wait=5'), { body: { text: 'elsewhere' } });
    expect((await fork(call, { atSeq: seq + 1 })).body.forkedFrom.seq).toBe(seq);
  });

  test.each([
    [{ atSeq: 0 }, 'atSeq'],
    [{ atSeq: 1.5 }, 'atSeq'],
    [{ atSeq: '1' }, 'atSeq'],
    [{ atTime: 'yesterday' }, 'atTime'],
    [{ atTime: '2026-99-99' }, 'atTime'],
    [{ atTime: '2026-02-30' }, 'atTime'],
    [{ atTime: '2026-01-31T12:00:00' }, 'atTime'],
    [{ atTime: '2026-01-31 (today)' }, 'atTime'],
    [{ atSeq: 1, atTime: '2026-01-31' }, 'atTime'],
    [{ at: 1 }, 'at'],
  ])('B21: %j is refused by naming %s', async (body, field) => {
    const { call } = await startWorld();
    await say(call, 'one');
    expect(await fork(call, body)).toMatchObject({ status: 400, body: { code: 'invalid', field } });
  });

  test('B21: there is nothing to go on from before the session began, nor while it was deleted', async () => {
    const { call } = await startWorld();
    expect((await fork(call)).status).toBe(404);
    await call('POST', pathOf('agent:main:cli:other', '/messages?wait=5'), { body: { text: 'elsewhere' } });
    await say(call, 'one');
    expect(await fork(call, { atSeq: 1 })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const deleted = await call('DELETE', pathOf(key, '?mode=key'));
    await say(call, 'two');
    expect(await fork(call, { atSeq: deleted.body.seq })).toMatchObject({ status: 409, body: { code: 'fork_invalid' } });
  });

  test('A8/87, B21: what a deletion has left behind is the owner’s to go back to, and nobody else’s', async () => {
    const { as } = await startAccessGateway();
    const path = pathOf('agent:main:telegram:dm:1');
    const own = async (text: string) =>
      (await as.owner('POST', `${path}/messages?wait=5`, { body: { text, sender: { id: 'telegram:1' } } })).status;
    expect(await own('one')).toBe(200);
    const { seq } = (await as.owner('GET', path)).body;
    await as.owner('DELETE', `${path}?mode=key`);
    expect(await own('two')).toBe(200);
    expect((await as.telegram('POST', `${path}/fork`, { body: { atSeq: seq } })).status).toBe(404);
    expect((await as.owner('POST', `${path}/fork`, { body: { atSeq: seq } })).body).toMatchObject({ forkedFrom: { seq } });
  });

  test('I2: the same call again is the same fork', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const headers = { 'idempotency-key': 'once' };
    expect((await fork(call, {}, headers)).body).toMatchObject({ outcome: 'accepted' });
    expect((await fork(call, {}, headers)).body).toMatchObject({ outcome: 'duplicate' });
    expect(await row(call)).toMatchObject({ generation: 2 });
  });

  test('B21: the reason is recorded; without one the place is', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    await fork(call, { reason: 'another text' });
    expect((await row(call)).lastReset).toMatchObject({ trigger: 'fork', rule: 'another text' });
    const { seq } = await row(call);
    await fork(call);
    expect((await row(call)).lastReset).toMatchObject({ trigger: 'fork', rule: `from sequence ${seq}` });
    expect((await fork(call, { reason: '' })).status).toBe(400);
  });

  test('B21: by name too', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    const rpc = (method: string, params: object) => call('POST', '/v1/rpc', { body: { method, params } });
    expect((await rpc('sessions.fork', { key: 'main', atSeq: 1 })).body).toMatchObject({
      ok: true,
      result: { key, generation: 2, forkedFrom: { seq: 1 } },
    });
    expect((await rpc('sessions.fork', { key: 'main', atSeq: 1, atTime: '2026-01-31' })).body).toMatchObject({ code: 'invalid' });
  });
});

describe('POST /v1/sessions/{key}/checkpoint', () => {
  const checkpoint = (call: Call) => call('POST', pathOf(key, '/checkpoint'), { body: {} });

  test('A7/80–81: says whether there was anything to introspect', async () => {
    const { call } = await startWorld();
    expect((await checkpoint(call)).status).toBe(404);
    await say(call, 'one');
    expect(await checkpoint(call)).toMatchObject({ status: 202, body: { status: 'ok', outcome: 'accepted', requested: true } });
    expect(await checkpoint(call)).toMatchObject({ status: 202, body: { status: 'ok', outcome: 'nothing', requested: false } });
    const { events } = (await call('GET', pathOf(key, '/events?type=checkpoint_requested'))).body;
    expect(events).toMatchObject([{ reason: 'manual', fromRev: 1, toRev: 2 }]);
  });

  test('A7/81: by name, and by a word in the chat', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    expect(await say(call, '/checkpoint')).toBe('Checkpoint requested.');
    expect(await say(call, '/checkpoint')).toBe('Nothing was said since the last checkpoint.');
    const { body } = await call('POST', '/v1/rpc', { body: { method: 'sessions.checkpoint', params: { key: 'main' } } });
    expect(body).toMatchObject({ ok: true, result: { key, requested: false } });
  });

  test('A7/81: is refused, with what to do, where sessions are not introspected', async () => {
    const { call: calling, memory } = await startWorld();
    await say(calling, 'one');
    const off = configSchema.parse({ ...config, introspection: { enabled: false } });
    const gateway = await openGateway(memory.portsFor('off'), [], off);
    const call = callerOf(gateway.url);
    await vi.waitFor(async () => expect((await row(call)).messageCount).toBe(2));
    const refusal = { code: 'introspection_disabled', detail: expect.stringContaining('introspection.enabled') };
    expect(await checkpoint(call)).toMatchObject({ status: 409, body: refusal });
    const { body } = await call('POST', '/v1/rpc', { body: { method: 'sessions.checkpoint', params: { key: 'main' } } });
    expect(body).toMatchObject(refusal);
    expect(await say(call, '/checkpoint')).toContain('introspection.enabled');
    const natter = natterWith([checkpointCommand], { home: tmpdir(), now: () => Date.now() });
    await expect(natter('checkpoint', key, '--url', gateway.url, '--token', token)).rejects.toMatchObject({
      code: 'introspection_disabled',
    });
    expect((await call('GET', pathOf(key, '/events?type=checkpoint_requested'))).body.events).toEqual([]);
  });

  test('A2/17, A7/82: a person names what the session is about; lists and /status show it', async () => {
    const { call } = await startWorld();
    await say(call, 'one');
    expect((await call('PATCH', pathOf(key), { body: { description: 'about tea' } })).body.settings).toEqual({
      description: 'about tea',
    });
    expect(await row(call)).toMatchObject({
      description: 'about tea',
      descriptionSource: 'person',
      workingMemory: '',
      introspectedAt: 0,
    });
    await vi.waitFor(async () => {
      const { result } = (await call('POST', '/v1/rpc', { body: { method: 'sessions.list' } })).body;
      expect(result.sessions).toMatchObject([{ description: 'about tea', descriptionSource: 'person', introspectedAt: 0 }]);
    });
    expect(await say(call, '/status')).toContain('About: about tea');
    const unset = await call('PATCH', pathOf(key), { body: { description: null } });
    expect(unset.body.settings).toEqual({});
    expect((await call('PATCH', pathOf(key), { body: { description: 'x'.repeat(281) } })).body.field).toBe('description');
  });
});

test('A7/81, B21: natter checkpoint and natter fork say what became of it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'natter-fork-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const { call, gateway } = await startWorld();
  await say(call, 'one');
  const { seq, sessionId } = await row(call);
  await say(call, 'two');
  const natter = (...words: string[]) =>
    natterWith([checkpointCommand, forkCommand], { home, now: () => Date.now() })(
      ...words,
      '--url',
      gateway.url,
      '--token',
      token,
    );
  expect(await natter('checkpoint', key)).toBe('checkpoint requested\n');
  expect(await natter('checkpoint', key)).toBe('nothing was said since the last checkpoint\n');
  expect(JSON.parse(await natter('checkpoint', key, '--json'))).toMatchObject({ requested: false });
  expect(await natter('fork', key, '--at', String(seq))).toMatch(
    new RegExp(`^${key} continues as \\S+ \\(generation 2\\) from commit \\d+ \\(log sequence ${seq}\\) of ${sessionId}\\n$`),
  );
  // A sequence of the log that is after the newest commit of this session.
  expect(await natter('fork', key, '--at', '1000000')).toMatch(
    /from commit \d+ \(log sequence \d+\) of \S+\nthat was the newest commit, so nothing is left behind\n$/,
  );
  expect(JSON.parse(await natter('fork', key, '--json'))).toMatchObject({ generation: 4 });
  await expect(natter('fork', key, '--at', '-1000d')).rejects.toMatchObject({ code: 'not_found' });
  await expect(natter('fork', key, '--at', 'soon')).rejects.toMatchObject({ code: 'invalid' });
});
