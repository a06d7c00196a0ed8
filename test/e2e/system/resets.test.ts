import { describe, expect, test } from 'vitest';
import { pathOf } from '../gateway/setup.ts';
import { clockFrom, startWhole, type Whole } from './whole.ts';

/** Sessions end by the clock, when the next message comes (A4/43-52, 57). Times are those of the system's clock, put forward. */

const person = 'telegram:1';
const key = 'agent:main:telegram:default:dm:1';

const ask = async (whole: Whole, text: string): Promise<void> => {
  await whole.say(person, text);
  expect((await whole.delivered()).text).toBe(`You said: ${text}`);
};
const get = async ({ as }: Whole, rest = '', where = key) => (await as.owner('GET', pathOf(where, rest))).body;

describe('a reset by the clock', () => {
  test.each([
    [
      'A4/44-45: daily at 04:00 of the configured zone, over the night of a clock change',
      {
        session: { timeZone: 'Europe/Berlin' },
        times: ['2026-03-28T20:00:00Z', '2026-03-29T01:59:50Z', '2026-03-29T02:00:10Z', '2026-03-29T20:00:00Z'],
        cause: { trigger: 'daily', rule: 'session.reset (default)', boundaryAt: Date.parse('2026-03-29T02:00:00Z') },
        next: { rule: 'session.reset (default)', dailyAt: Date.parse('2026-03-30T02:00:00Z'), timeZone: 'Europe/Berlin' },
      },
    ],
    [
      'A4/46, 52: by the idle window of the channel',
      {
        session: { resetByChannel: { telegram: { mode: 'idle', idleMinutes: 30 } } },
        times: ['2026-03-28T03:50:00Z', '2026-03-28T04:15:00Z', '2026-03-28T04:50:00Z', '2026-03-28T05:15:00Z'],
        cause: { trigger: 'idle', rule: 'session.resetByChannel.telegram' },
        next: { rule: 'session.resetByChannel.telegram', timeZone: 'UTC' },
      },
    ],
    [
      'A4/47: of daily and idle by what comes first',
      {
        session: { reset: { mode: 'daily', atHour: 4, idleMinutes: 60 } },
        times: ['2026-03-28T03:10:00Z', '2026-03-28T03:50:00Z', '2026-03-28T05:30:00Z', '2026-03-28T05:50:00Z'],
        cause: { trigger: 'daily', rule: 'session.reset', boundaryAt: Date.parse('2026-03-28T04:00:00Z') },
        next: { rule: 'session.reset', dailyAt: Date.parse('2026-03-29T04:00:00Z') },
      },
    ],
  ])('%s: once, with its cause, and what was before stays readable', async (_, { session, times, cause, next }) => {
    const [first = '', within = '', beyond = '', later = ''] = times;
    const clock = clockFrom(first);
    const whole = await startWhole({ session, clock });
    await ask(whole, 'one');
    clock.goTo(within);
    await ask(whole, 'two');
    const before = await get(whole);
    expect(before).toMatchObject({ generation: 1, messageCount: 4, nextReset: { due: false } });
    clock.goTo(beyond);
    expect((await get(whole)).nextReset).toMatchObject({ rule: cause.rule, due: true });
    expect(await whole.eventsOf(key, 'session_reset')).toEqual([]);
    await ask(whole, 'three');
    clock.goTo(later);
    await ask(whole, 'four');

    const resets = await whole.eventsOf(key, 'session_reset');
    expect(resets).toMatchObject([{ previousSessionId: before.sessionId, generation: 2, cause }]);
    expect(resets[0]?.cause?.lastUpdateAt).toBe(before.interactedAt);
    expect(await whole.eventsOf(key, 'checkpoint_requested')).toMatchObject([
      { reason: 'new_session', sessionId: before.sessionId, fromRev: 1, toRev: before.rev },
    ]);
    expect(await get(whole)).toMatchObject({ generation: 2, messageCount: 4, nextReset: { ...next, due: false } });
    const { events } = await get(whole, '/events?type=user_message');
    expect(events.map((event: any) => [event.sessionId === before.sessionId, event.message.text])).toEqual([
      [true, 'one'],
      [true, 'two'],
      [false, 'three'],
      [false, 'four'],
    ]);
  });

  test('A4/43: /status and the API agree on the next reset', async () => {
    const clock = clockFrom('2026-03-28T12:00:00Z');
    const whole = await startWhole({ session: { reset: { mode: 'idle', idleMinutes: 30 } }, clock });
    const status = async (): Promise<string | undefined> => {
      await whole.say(person, '/status');
      return (await whole.delivered()).text.split('\n').find((line) => line.startsWith('Next reset'));
    };
    expect(await status()).toBeUndefined();
    await ask(whole, 'hello');
    expect(await status()).toBe('Next reset: 2026-03-28 12:30 UTC if nothing is said before');
    expect((await get(whole)).nextReset.idleAt).toBeGreaterThanOrEqual(Date.parse('2026-03-28T12:30:00Z'));
    clock.goTo('2026-03-28T13:00:00Z');
    expect(await status()).toBe('Next reset: with the next message');
    await whole.until(async () => {
      const { body } = await whole.as.owner('POST', '/v1/rpc', { body: { method: 'status' } });
      expect(body.result.sessions).toMatchObject([{ nextReset: { due: true, rule: 'session.reset', timeZone: 'UTC' } }]);
    });
    expect(await whole.eventsOf(key, 'session_reset')).toEqual([]);
  });

  test('A4/52: a call goes by its own rule, and says which, while the idle window of the channel is over', async () => {
    const clock = clockFrom('2026-03-28T12:00:00Z');
    const session = { dmScope: 'main', resetByChannel: { telegram: { mode: 'idle', idleMinutes: 30 } } };
    const whole = await startWhole({ session, clock });
    const main = 'agent:main:main';
    await ask(whole, 'one');
    clock.goTo('2026-03-28T13:00:00Z');
    expect(await get(whole, '', main)).toMatchObject({
      nextReset: { rule: 'session.resetByChannel.telegram', due: true },
      nextResetByCall: { rule: 'session.reset (default)', due: false },
    });
    await whole.as.owner('POST', pathOf(main, '/messages?wait=5'), { body: { text: 'two' } });
    expect(await get(whole, '', main)).toMatchObject({ generation: 1, messageCount: 4 });
    clock.goTo('2026-03-28T14:00:00Z');
    await ask(whole, 'three');
    expect((await get(whole, '', main)).generation).toBe(2);
  });

  test('A4/45: a message that says it is from the future does not keep its session fresh', async () => {
    const clock = clockFrom('2026-03-28T12:00:00Z');
    const whole = await startWhole({ clock });
    await whole.say(person, 'from the future', { at: Date.parse('2999-01-01T00:00:00Z') });
    await whole.delivered();
    expect((await get(whole)).interactedAt).toBeLessThan(Date.parse('2026-03-28T12:05:00Z'));
    clock.goTo('2026-03-29T12:00:00Z');
    await ask(whole, 'a day later');
    expect(await whole.eventsOf(key, 'session_reset')).toMatchObject([{ cause: { trigger: 'daily' } }]);
  });
});

test('A4/57: each run of a cron job that finds the one before over has a session of its own', async () => {
  const whole = await startWhole();
  const cron = 'agent:main:cron:nightly';
  for (const run of ['one', 'two', 'three']) {
    await whole.say('cron:nightly', run);
    await whole.settled();
  }
  const resets = await whole.eventsOf(cron, 'session_reset');
  expect(resets.map(({ cause }) => cause?.trigger)).toEqual(['isolated', 'isolated']);
  const heard = (await whole.commitsOf(cron)).flatMap(({ sessionId, events }) =>
    events.some(({ type }) => type === 'user_message') ? [sessionId] : [],
  );
  expect(new Set(heard).size).toBe(3);
  expect((await get(whole, '', cron)).nextReset).toEqual({ rule: 'isolated cron job', due: true, timeZone: 'UTC' });
});
