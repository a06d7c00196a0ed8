import { expect, test, vi } from 'vitest';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { callerOf, pathOf, startWorld } from '../setup.ts';

const key = 'agent:main:telegram:default:dm:1';
const hourMs = 3_600_000;

/** A world in which the time of all that is planned comes when the test says so. */
const startPlanned = async () => {
  const due = new AbortController();
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) =>
      ms < hourMs / 2
        ? systemClock.sleep(ms, signal)
        : Promise.race([systemClock.sleep(ms, signal), systemClock.sleep(ms, due.signal)]),
  };
  const { call, gateway, ports } = await startWorld({ clock });
  const plan = async (text: string, more: object = {}): Promise<string> => {
    const answer = await call('POST', pathOf(key, '/messages'), { body: { text, sendAt: Date.now() + hourMs, ...more } });
    expect(answer).toMatchObject({ status: 202, body: { status: 'scheduled' } });
    return answer.body.runId;
  };
  const say = (text: string) => call('POST', pathOf(key, '/messages?wait=5'), { body: { text } });
  const remove = (mode: string) => call('DELETE', pathOf(key, `?mode=${mode}`));
  const runOf = async (runId: string) => (await call('GET', pathOf(key, `/runs/${runId}?wait=5`))).body;
  const textsOf = async () =>
    (await call('GET', pathOf(key, '/messages'))).body.messages
      .filter(({ role }: { role: string }) => role === 'user')
      .map(({ text }: { text: string }) => text);
  return { call, gateway, ports, plan, say, remove, runOf, textsOf, comeDue: () => due.abort() };
};

test.each(['session', 'key'])('C9: deleting a conversation (%s) cancels what was planned in it', async (mode) => {
  const { call, plan, say, remove, runOf, comeDue } = await startPlanned();
  await say('hello');
  const runs = [await plan('later'), await plan('noted', { mode: 'append' }), await plan('/new later'), await plan('/status')];
  expect((await remove(mode)).body).toMatchObject({ status: 'ok', outcome: 'accepted' });
  comeDue();
  for (const run of runs) expect(await runOf(run)).toMatchObject({ status: 'error', error: { code: 'session_deleted' } });
  expect((await call('GET', pathOf(key))).status).toBe(404);
});

test('C9: what was planned in the conversation that was deleted does not come in the one after it, what is planned there does', async () => {
  const { plan, say, remove, runOf, textsOf, comeDue } = await startPlanned();
  await say('hello');
  const before = await plan('of before');
  await remove('session');
  const opening = await plan('planned while there was none');
  await say('again');
  const after = await plan('of now');
  comeDue();
  expect(await runOf(before)).toMatchObject({ status: 'error', error: { code: 'session_deleted' } });
  for (const run of [opening, after]) expect(await runOf(run)).toMatchObject({ status: 'ok' });
  expect((await textsOf()).slice(1)).toEqual(['again', 'planned while there was none', 'of now']);
});

test('A4/43: a reset cancels nothing that was planned, and a plan may be the first thing in a session', async () => {
  const { call, plan, runOf, textsOf, comeDue } = await startPlanned();
  const first = await plan('first');
  await call('POST', pathOf(key, '/open'));
  expect((await call('POST', pathOf(key, '/reset'))).status).toBe(200);
  comeDue();
  expect(await runOf(first)).toMatchObject({ status: 'ok', reply: 'you said: first' });
  await vi.waitFor(async () => expect(await textsOf()).toEqual(['first']));
});

test('what is planned is listed, the next first, and can be cancelled, by whoever has planned it', async () => {
  const { call, gateway, plan, runOf, textsOf, comeDue } = await startPlanned();
  const made = await call('POST', '/v1/tokens', { body: { role: 'participant', principal: 'telegram:1' } });
  expect(made.status).toBe(201);
  const ann = callerOf(gateway.url, made.body.token);
  const list = async (by = call) => (await by('GET', `/v1/scheduled-messages?key=${key}`)).body;
  const cancel = async (runId: string, by = call) => (await by('DELETE', `/v1/scheduled-messages/${runId}`)).status;
  const kept = await plan('kept', { sendAt: Date.now() + 2 * hourMs });
  const dropped = await plan('dropped');
  const reset = await plan('/new', { sendAt: Date.now() + 3 * hourMs });
  expect(await list()).toMatchObject({
    messages: [
      { runId: dropped, sessionKey: key, text: 'dropped', command: 'post_message', sendAt: expect.any(Number) },
      { runId: kept, text: 'kept' },
      { runId: reset, text: null, command: 'reset' },
    ],
    complete: true,
  });
  expect(await list(ann)).toEqual({ messages: [], complete: true });
  expect([await cancel(dropped, ann), await cancel(dropped), await cancel(dropped)]).toEqual([404, 200, 404]);
  expect(await cancel(reset)).toBe(200);
  expect((await list()).messages).toMatchObject([{ runId: kept }]);
  comeDue();
  expect(await runOf(kept)).toMatchObject({ status: 'ok' });
  expect(await runOf(dropped)).toMatchObject({ status: 'error', error: { code: 'cancelled' } });
  expect(await textsOf()).toEqual(['kept']);
  expect(await list()).toEqual({ messages: [], complete: true });
});
