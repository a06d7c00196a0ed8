import { describe, expect, test } from 'vitest';
import { pathOf } from '../gateway/setup.ts';
import { startWhole, type Whole } from './whole.ts';

/** What a message does that finds a turn running (B6), on a channel and at the gateway; and compaction as people ask for it (A11/126). */

const owner = 'telegram:7';
const key = 'agent:main:telegram:default:dm:7';
const slow = '[[think 150]] [[steps 2]] first';

/** All services with this queue, and a turn of the owner's that runs. */
const startBusy = async (queue: object): Promise<Whole> => {
  const whole = await startWhole({ session: { queue } });
  await whole.say(owner, slow);
  await whole.until(async () => expect((await whole.as.owner('GET', pathOf(key))).body.status).toBe('running'));
  return whole;
};
const texts = async (whole: Whole, count: number): Promise<string[]> => {
  const told: string[] = [];
  while (told.length < count) told.push((await whole.delivered()).text);
  return told;
};

describe('a message that finds a turn running', () => {
  test('B6: followup: it waits, and each is answered by itself', async () => {
    const whole = await startBusy({});
    for (const text of ['two', 'three']) await whole.say(owner, text);
    expect(await texts(whole, 3)).toEqual(['You said: first', 'You said: two', 'You said: three']);
  });

  test('B6: collect: what waits is answered together', async () => {
    const whole = await startBusy({ mode: 'collect' });
    for (const text of ['two', 'three']) await whole.say(owner, text);
    const [first, second = ''] = await texts(whole, 2);
    expect(first).toBe('You said: first');
    expect(second).toContain('three');
    await whole.settled();
    expect(whole.sent).toHaveLength(2);
    expect(await whole.eventsOf(key, 'turn_started')).toMatchObject([{}, { merged: [{}] }]);
  });

  test('B6: steer: the running turn hears it', async () => {
    const whole = await startBusy({ byChannel: { telegram: { mode: 'steer' } } });
    await whole.say(owner, 'rather two');
    await whole.settled();
    expect(await whole.eventsOf(key, 'turn_joined')).toHaveLength(1);
    expect(await whole.eventsOf(key, 'turn_started')).toHaveLength(1);
  });

  test('B6: interrupt: it ends the turn and is answered', async () => {
    const whole = await startBusy({ mode: 'interrupt' });
    await whole.say(owner, 'two');
    expect(await texts(whole, 1)).toEqual(['You said: two']);
    expect(await whole.eventsOf(key, 'turn_aborted')).toMatchObject([{ reason: 'a newer message interrupts' }]);
  });

  test('B6: reject: it is refused, which the log has', async () => {
    const whole = await startBusy({ mode: 'reject' });
    await whole.say(owner, 'two');
    expect(await texts(whole, 1)).toEqual(['You said: first']);
    await whole.settled();
    expect(await whole.eventsOf(key, 'message_refused')).toMatchObject([{ code: 'session_busy' }]);
  });

  test('B6, I11: what is more than may wait is refused', async () => {
    const whole = await startBusy({ limit: 1 });
    for (const text of ['two', 'three']) await whole.say(owner, text);
    expect(await texts(whole, 2)).toEqual(['You said: first', 'You said: two']);
    expect(await whole.eventsOf(key, 'message_refused')).toMatchObject([{ code: 'queue_full' }]);
  });

  test('B6: debounce: messages that follow at once are heard together', async () => {
    const whole = await startWhole({ session: { queue: { debounceMs: 400 } } });
    for (const text of ['one', 'and two']) await whole.say(owner, text);
    // Nothing waits and nothing runs before the first message is read, either.
    await whole.delivered();
    await whole.settled();
    expect(await whole.eventsOf(key, 'turn_started')).toHaveLength(1);
    expect(await whole.eventsOf(key, 'turn_joined')).toHaveLength(1);
    expect(whole.sent).toHaveLength(1);
  });
});

describe('at the gateway', () => {
  const post = async ({ as }: Whole, text: string, queue?: string, wait = '') =>
    (await as.owner('POST', pathOf(key, `/messages${wait}`), { body: { text, ...(queue && { queue }) } })).body;
  const runNow = async ({ as }: Whole, runId: string) => (await as.owner('GET', pathOf(key, `/runs/${runId}`))).body;
  const runOf = async ({ as }: Whole, runId: string) => (await as.owner('GET', pathOf(key, `/runs/${runId}?wait=10`))).body;

  test('B6, A10/119: the runs of what is answered together end with the one answer', async () => {
    const whole = await startWhole();
    const first = await post(whole, slow);
    await whole.until(async () => expect((await runNow(whole, first.runId)).status).toBe('running'));
    const two = await post(whole, 'two', 'collect');
    const three = await post(whole, 'three', 'collect');
    await whole.until(async () => expect((await runNow(whole, three.runId)).status).toBe('queued'));
    const [one, other] = [await runOf(whole, two.runId), await runOf(whole, three.runId)];
    expect(one).toMatchObject({ status: 'ok', reply: expect.stringContaining('three') });
    expect(other).toEqual({ ...one, runId: three.runId });
    // Looked for again, from the log alone.
    expect(await runNow(whole, three.runId)).toEqual(other);
    expect((await runOf(whole, first.runId)).reply).toBe('You said: first');
  });

  test('B6: the run of what joined a turn ends as the turn does, also when that is stopped', async () => {
    const whole = await startWhole();
    const first = await post(whole, slow);
    await whole.until(async () => expect((await runNow(whole, first.runId)).status).toBe('running'));
    const joined = await post(whole, 'two', 'steer');
    const ended = runOf(whole, joined.runId);
    await whole.until(async () => expect(await whole.eventsOf(key, 'turn_joined')).toHaveLength(1));
    await whole.as.owner('POST', pathOf(key, '/stop'));
    expect(await ended).toMatchObject({ runId: joined.runId, status: 'error', error: { code: 'aborted' } });
  });

  test('B6: a refusal is told, and what cannot be is no mode', async () => {
    const whole = await startWhole();
    const first = await post(whole, slow);
    await whole.until(async () => expect((await runNow(whole, first.runId)).status).toBe('running'));
    expect(await post(whole, 'two', 'reject', '?wait=5')).toMatchObject({ status: 'error', error: { code: 'session_busy' } });
    expect(await post(whole, 'two', 'later')).toMatchObject({ code: 'invalid', field: 'queue' });
    const appended = await whole.as.owner('POST', pathOf(key, '/messages'), {
      body: { text: 'two', mode: 'append', queue: 'steer' },
    });
    expect(appended.body).toMatchObject({ code: 'invalid', field: 'queue' });
  });

  test('B6: rows show the mode of the channel', async () => {
    const whole = await startWhole({ session: { queue: { mode: 'collect', byChannel: { telegram: { mode: 'steer' } } } } });
    await post(whole, 'hello', undefined, '?wait=5');
    expect((await whole.as.owner('GET', pathOf(key))).body.queueMode).toBe('steer');
    await whole.until(async () => {
      const { result } = (await whole.as.owner('POST', '/v1/rpc', { body: { method: 'sessions.list' } })).body;
      expect(result.sessions).toMatchObject([{ queueMode: 'steer', approval: null, costUsd: 0 }]);
    });
  });

  test('B6: a call goes by the channel of the key, whatever channel was used last, and says which mode that is', async () => {
    const queue = { mode: 'followup', byChannel: { telegram: { mode: 'steer' } } };
    const whole = await startWhole({ session: { dmScope: 'main', queue } });
    const main = 'agent:main:main';
    await whole.say(owner, 'hello');
    await whole.delivered();
    await whole.until(async () => {
      const { body } = await whole.as.owner('GET', pathOf(main));
      expect(body).toMatchObject({ queueMode: 'steer', queueModeByCall: 'followup' });
    });
    await whole.as.owner('PATCH', pathOf(main), { body: { queueMode: 'collect' } });
    expect((await whole.as.owner('GET', pathOf(main))).body).toMatchObject({ queueMode: 'collect', queueModeByCall: 'collect' });
  });
});

describe('/compact', () => {
  const long = {
    session: {},
    more: { agent: { owners: [owner] }, context: { windowTokens: 4_000, reserveTokens: 500, keepTokens: 100 } },
  };
  const talk = async (whole: Whole): Promise<void> => {
    for (let index = 0; index < 6; index++) {
      await whole.say(owner, `${index} ${'so much to say '.repeat(40)}`);
      await whole.delivered();
    }
  };

  test('A11/126: makes room, and says how much; what was said stays in the log', async () => {
    const whole = await startWhole(long);
    await talk(whole);
    await whole.say(owner, '/compact keep the names');
    expect((await whole.delivered()).text).toMatch(/^Compacted: about \d+ tokens of context became \d+\.$/);
    expect(await whole.eventsOf(key, 'context_compacted')).toMatchObject([{ instructions: 'keep the names' }]);
    expect(await whole.eventsOf(key, 'user_message')).toHaveLength(6);
    await whole.say(owner, 'and on');
    expect((await whole.delivered()).text).toBe('You said: and on');
  });

  test('A11/126: where there is nothing to compact it says so', async () => {
    const whole = await startWhole(long);
    await whole.say(owner, '/compact');
    expect((await whole.delivered()).text).toBe('There is nothing to compact yet.');
  });

  test('A11/126: at the gateway and by name; the run has what became of it', async () => {
    const whole = await startWhole(long);
    const compact = (path = '') => whole.as.owner('POST', pathOf(key, `/compact${path}`), { body: { instructions: 'be brief' } });
    expect((await compact()).body).toMatchObject({ status: 404, code: 'not_found' });
    await talk(whole);
    expect((await whole.as.eve('POST', pathOf(key, '/compact'))).status).toBe(404);
    const { status, body } = await compact();
    expect([status, body]).toEqual([202, { runId: expect.any(String), status: 'accepted', duplicate: false }]);
    const run = await whole.as.owner('GET', pathOf(key, `/runs/${body.runId}?wait=10`));
    expect(run.body).toEqual({ runId: body.runId, status: 'ok', reply: expect.stringMatching(/^Compacted: about/) });
    expect((await compact('?wait=10')).body).toMatchObject({ status: 'ok', reply: expect.stringMatching(/ompacted/) });
    const params = { key, timeoutSeconds: 10 };
    const { result } = (await whole.as.owner('POST', '/v1/rpc', { body: { method: 'sessions.compact', params } })).body;
    expect(result).toMatchObject({ status: 'ok', reply: expect.stringMatching(/ompacted/) });
  });
});
