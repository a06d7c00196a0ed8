import { expect, test } from 'vitest';
import type { ChatItem } from '../../../services/page/chat/chat-model.ts';
import { leftWords, resetDetails, resetMark } from '../../../services/page/chat/resets.ts';
import { nextResetOf, nextResetWords } from '../../../services/page/parts/reset-words.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';

/** What the page says of resets: why one was, what it means for the agent, and when the next is. */

const said = (rest: Partial<EventOf<'session_reset'>>): string =>
  resetMark({ type: 'session_reset', generation: 2, reason: 'asked', ...rest } as EventOf<'session_reset'>);

test.each([
  ['an idle limit', { trigger: 'idle', rule: 'r', lastUpdateAt: 0, boundaryAt: 1_800_000 }, 'Reset after more than 30 min idle'],
  ['an idle rule of an older log', { trigger: 'idle', rule: 'r' }, 'Reset after being idle'],
  ['the daily rule', { trigger: 'daily', rule: 'r', lastUpdateAt: 0, boundaryAt: 9 }, 'Reset by the daily rule'],
  ['a command', { trigger: 'command', rule: '/new' }, 'Reset by a chat command, /new'],
  ['a call with a reason', { trigger: 'api', rule: 'tidying up' }, 'Reset by a call, tidying up'],
] as const)('of %s', (_, cause, expected) => {
  expect(said({ cause })).toBe(`${expected}. The agent no longer knows what is above`);
});

test.each([
  ['a command', { trigger: 'command', rule: '/new' }, 'ada'],
  ['a call', { trigger: 'api', rule: 'r' }, 'ada'],
  ['a rule', { trigger: 'daily', rule: 'r' }, undefined],
] as const)('who asked for one by %s', (_, cause, expected) => {
  const event = { type: 'session_reset', generation: 2, reason: 'asked', cause, actor: 'ada' };
  expect(resetDetails(event as Parameters<typeof resetDetails>[0]).by).toBe(expected);
});

test('a fork is named after the commit that it goes on from', () => {
  expect(said({ forkedFrom: { rev: 7 } as never })).toBe(
    'Forked from commit 7: the agent knows the conversation up to there, and since',
  );
});

test('of one whose cause the log does not have', () => {
  expect(said({})).toBe('Reset: asked. The agent no longer knows what is above');
});

test.each([
  ['said said', '2 messages'],
  ['said tool bad', '1 message, 1 call, 1 failure'],
  ['bad', '1 failure'],
  ['calm', 'nothing that was said'],
])('a fork that left behind %s says so', (kinds, expected) => {
  const itemOf = (kind: string) => (kind === 'bad' || kind === 'calm' ? { kind: 'mark', tone: kind } : { kind });
  expect(leftWords(kinds.split(' ').map(itemOf) as unknown as ChatItem[])).toBe(`Left behind by the fork: ${expected}`);
});

test.each([
  [true, true, 'Resets if nothing is said until'],
  [false, true, 'Daily reset at'],
  [true, false, 'The next message starts afresh: its idle limit passed at'],
  [false, false, 'The next message starts afresh: its daily reset was due at'],
])('the next reset says its rule: idle %s, ahead %s', (isIdle, isAhead, words) => {
  expect(nextResetWords(isIdle, isAhead)).toBe(words);
});

test.each([
  [{}, null],
  [{ idleAt: 7 }, { at: 7, isIdle: true }],
  [
    { dailyAt: 5, idleAt: 7 },
    { at: 5, isIdle: false },
  ],
  [
    { dailyAt: 9, idleAt: 7 },
    { at: 7, isIdle: true },
  ],
])('the next reset of %j is the first', (times, expected) => {
  expect(nextResetOf({ rule: 'x', due: false, timeZone: 'UTC', ...times })).toEqual(expected);
});
