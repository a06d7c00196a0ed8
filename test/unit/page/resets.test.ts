import { expect, test } from 'vitest';
import type { ChatItem } from '../../../services/page/chat/chat-model.ts';
import { leftWords, markWords, resetDetails, resetMark, runsOf } from '../../../services/page/chat/resets.ts';
import {
  leaverWords,
  nextResets,
  nothingSaid,
  resetWords,
  startsAfresh,
  whenBack,
} from '../../../services/page/parts/reset-words.ts';
import { greeting } from '../../../shared/domain/routing/chat-answer.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';

/** What the page says of resets: why one was, what it means for the agent, and when the next is. */

const said = (rest: Partial<EventOf<'session_reset'>>): string =>
  resetMark({ type: 'session_reset', generation: 2, reason: 'asked', ...rest } as EventOf<'session_reset'>);

test.each([
  ['an idle limit', { trigger: 'idle', rule: 'r', lastUpdateAt: 0, boundaryAt: 1_800_000 }, 'Reset after more than 30 min idle'],
  ['an idle rule of an older log', { trigger: 'idle', rule: 'r' }, 'Reset after being idle'],
  ['the daily rule', { trigger: 'daily', rule: 'r', lastUpdateAt: 0, boundaryAt: 9 }, 'Reset by the daily rule'],
] as const)('of %s', (_, cause, expected) => {
  expect(said({ cause })).toBe(`${expected}. The agent no longer knows what is above`);
});

test.each([
  ['a command', { trigger: 'command', rule: '/new' }, 'ada'],
  ['a call', { trigger: 'api', rule: 'r' }, 'ada'],
  ['a fork', { trigger: 'fork', rule: 'from sequence 9' }, 'ada'],
  ['an edit of the first message', { trigger: 'api', rule: 'another text' }, 'ada'],
  ['a rule', { trigger: 'daily', rule: 'r' }, undefined],
] as const)('who asked for one by %s', (_, cause, expected) => {
  const event = { type: 'session_reset', generation: 2, reason: 'asked', cause, actor: 'ada' };
  expect(resetDetails(event as Parameters<typeof resetDetails>[0]).by?.actor).toBe(expected);
});

test.each([
  ['a command', { trigger: 'command', rule: '/new' }, 'Reset by ann with the chat command /new: this session begins anew'],
  ['a call with a reason', { trigger: 'api', rule: 'tidying up' }, 'Reset by ann: tidying up'],
  ['a call without a reason', { trigger: 'api', rule: 'api' }, 'Reset by ann'],
  ['an edit of the first message', { trigger: 'api', rule: 'another text' }, 'Begun again with the first message changed by ann'],
] as const)('of %s, with who asked for it', (_, cause, expected) => {
  const { by } = resetDetails({ type: 'session_reset', cause, actor: 'ann' } as Parameters<typeof resetDetails>[0]);
  expect(`${said({ cause })} by ${by?.actor}${by?.rest}`).toBe(`${expected}. The agent no longer knows what is above`);
});

test('of /new, what the agent is told right below it says the same: the session stays, and begins anew', () => {
  const cause = { trigger: 'command', rule: '/new' };
  const { by } = resetDetails({ type: 'session_reset', cause, actor: 'ann' } as Parameters<typeof resetDetails>[0]);
  for (const words of [by?.rest, greeting]) {
    expect(words).toMatch(/this session (begins|has just begun) anew/i);
    expect(words).not.toMatch(/new session/);
  }
});

test.each([
  ['api', 'asked for on the page', 'Reset on the page', 'Reset by you'],
  ['api', 'another text', 'Begun again with the first message changed', 'Begun again with the first message changed by you'],
  ['api', 'another answer', 'Tried again from the beginning', 'Tried again from the beginning by you'],
  ['api', 'tidying up', 'Reset over the API', 'Reset by you'],
  ['command', '/new', 'Reset with /new', 'Reset with /new by you'],
  ['daily', 'session.reset', 'Reset by the daily rule', 'Reset by the daily rule'],
] as const)('in the header and the list, of one by %s because %s, where it is not known who asked, and where it is', (...row) => {
  const [trigger, rule, ...expected] = row;
  expect([resetWords({ trigger, rule }), resetWords({ trigger, rule }, 'by you')]).toEqual(expected);
});

test('a fork is named after the commit that it goes on from, and who made it', () => {
  const event = { cause: { trigger: 'fork', rule: 'from sequence 9' }, forkedFrom: { rev: 7 } as never, actor: 'ann' } as const;
  const { by } = resetDetails({ type: 'session_reset', ...event } as unknown as Parameters<typeof resetDetails>[0]);
  expect(`${said(event)} by ${by?.actor}${by?.rest}`).toBe(
    'Forked from commit 7 by ann: the agent knows the conversation up to there, and what was said since',
  );
});

test.each([
  ['another text', 'Edited from commit 7'],
  ['another answer', 'Tried again from commit 7'],
  ['from sequence 9', 'Forked from commit 7'],
])('a fork that was made for %s says so', (rule, expected) => {
  expect(said({ cause: { trigger: 'fork', rule }, forkedFrom: { rev: 7 } as never })).toBe(expected);
});

test('of one whose cause the log does not have', () => {
  expect(said({})).toBe('Reset: asked. The agent no longer knows what is above');
});

test.each([
  ['said said', '2 messages'],
  ['said tool bad', '1 message, 1 call, 1 failure'],
  ['said stopped', '1 message'],
  ['said dropped', '1 message'],
  ['stopped', 'nothing that the agent knew'],
  ['dropped', 'what the agent never read'],
  ['bad', '1 failure'],
  ['calm', 'nothing that the agent knew'],
])('a fork that left behind %s says so', (kinds, expected) => {
  const special: Readonly<Record<string, object>> = {
    bad: { kind: 'mark', tone: 'bad' },
    calm: { kind: 'mark', tone: 'calm' },
    stopped: { kind: 'said', isStopped: true },
    dropped: { kind: 'said', isDropped: true },
  };
  const run = kinds.split(' ').map((kind) => ({ ...(special[kind] ?? { kind }), leftBy: 9 })) as unknown as ChatItem[];
  const mark = { kind: 'mark', seq: 9, leaver: 'the fork' } as unknown as ChatItem;
  expect(leftWords(run, [...run, mark])).toBe(`Left behind by the fork: ${expected}`);
});

test.each([
  ['an edit', { trigger: 'fork', rule: 'another text' }, true, 'the edit'],
  ['an edit of the first message', { trigger: 'api', rule: 'another text' }, false, 'the edit'],
  ['"Try again"', { trigger: 'fork', rule: 'another answer' }, true, 'the retry'],
  ['a fork', { trigger: 'fork', rule: 'from sequence 9' }, true, 'the fork'],
  ['a fork for a reason that only looks like one', { trigger: 'fork', rule: 'constructor' }, true, 'the fork'],
  ['a reset', { trigger: 'command', rule: '/new' }, false, 'the reset'],
  ['a reset without a cause', undefined, false, 'the reset'],
] as const)('what %s leaves behind is named after it', (_, cause, isFork, expected) => {
  const event = { type: 'session_reset', cause, forkedFrom: isFork ? {} : undefined } as EventOf<'session_reset'>;
  expect(leaverWords(event)).toBe(expected);
});

test.each([
  [
    'a fork',
    { trigger: 'fork', rule: 'from sequence 9' },
    { rev: 7 },
    'Forked from commit 7 by ann: the agent knew the conversation up to there',
  ],
  ['a reset', { trigger: 'api', rule: 'api' }, undefined, 'Reset by ann. The agent no longer knew what is above'],
  ['a rule', { trigger: 'daily', rule: 'r' }, undefined, 'Reset by the daily rule. The agent no longer knew what is above'],
] as const)('once it was left behind, the line of %s speaks of the past', (_, cause, forkedFrom, expected) => {
  const event = { type: 'session_reset', cause, forkedFrom, actor: 'ann' } as unknown as Parameters<typeof resetDetails>[0];
  const details = resetDetails(event);
  const words = (leftBy: number | undefined): string => {
    const { text, rest } = markWords({ text: resetMark(event), by: details.by, leftBy });
    return details.by ? `${text} by ${details.by.actor}${rest}` : text;
  };
  expect(words(9)).toBe(expected);
  expect(words(undefined)).toMatch(/knows/);
});

test('what two forks left behind is folded and counted apart', () => {
  const items = [undefined, 4, 4, 6, undefined].map((leftBy) => ({ kind: 'said', leftBy })) as unknown as ChatItem[];
  expect(runsOf(items).map((run) => [run[0]?.leftBy, run.length])).toEqual([
    [undefined, 1],
    [4, 2],
    [6, 1],
    [undefined, 1],
  ]);
});

const began = { at: 0, seq: 4, trigger: 'api', rule: 'api' } as const;

test.each([
  ['a new session', undefined, 'Nothing said yet'],
  ['a session that was reset', began, 'Nothing said since the reset'],
  ['a fork', { ...began, trigger: 'fork', fromSeq: 2, fromRev: 1 } as const, 'Nothing said since the fork'],
  // A row of an older version has no number of its commit.
  ['an older fork', { ...began, trigger: 'fork', fromSeq: 2 } as const, 'Nothing said since the fork'],
])('a row without a last message says why: %s', (_, lastReset, expected) => {
  expect(nothingSaid({ lastReset })).toBe(expected);
});

const next = (times: { readonly dailyAt?: number; readonly idleAt?: number }, rule = 'x') => ({
  ...{ rule, due: false, timeZone: 'UTC' },
  ...times,
});
const shown = (byCall: ReturnType<typeof next>, byChannel: ReturnType<typeof next>): string[] => {
  const session = { nextReset: byChannel, nextResetByCall: byCall, lastRoute: { channel: 'telegram', to: '1' } };
  return nextResets(session, 100).map(({ words, at }) => `${words} ${at}`);
};

test.each([
  ['none by itself', {}, []],
  ['an idle limit', { idleAt: 107 }, ['Resets if there are no messages before 107']],
  ['a daily one', { dailyAt: 105 }, ['Resets daily, next at 105']],
  ['the first of both: daily', { dailyAt: 105, idleAt: 107 }, ['Resets daily, next at 105']],
  ['the first of both: idle', { dailyAt: 109, idleAt: 107 }, ['Resets if there are no messages before 107']],
  ['an idle limit that passed', { idleAt: 100 }, ['The next message starts afresh: its idle limit passed at 100']],
  ['a daily one that was due', { dailyAt: 99 }, ['The next message starts afresh: its daily reset was due at 99']],
])('the next reset, by one rule wherever the next message comes from: %s', (_, times, expected) => {
  expect(shown(next(times), next(times))).toEqual(expected);
});

test.each([
  [
    'both ahead',
    { dailyAt: 105 },
    { idleAt: 101 },
    false,
    ['Resets daily, next at 105', 'For telegram: resets if there are no messages before 101'],
  ],
  [
    'due for the channel alone',
    { dailyAt: 105 },
    { idleAt: 99 },
    false,
    ['Resets daily, next at 105', 'A message from telegram starts afresh, yours goes on: its idle limit passed at 99'],
  ],
  [
    'due for the page alone',
    { idleAt: 99 },
    { dailyAt: 105 },
    true,
    ['Your next message starts afresh: its idle limit passed at 99'],
  ],
  ['none for the page', {}, { idleAt: 101 }, false, ['For telegram: resets if there are no messages before 101']],
])('where its channel has a rule of its own, what is written here goes by another: %s', (_, own, theirs, isDue, expected) => {
  expect(shown(next(own), next(theirs, 'session.resetByChannel.telegram'))).toEqual(expected);
  expect(startsAfresh({ nextResetByCall: next(own) }, 100)).toBe(isDue);
});

test.each([
  ['comes back', {}, { words: 'Archived: its next message brings it back', at: null }],
  ['starts afresh', { idleAt: 5 }, { words: 'Archived: its next message brings it back, and starts afresh', at: null }],
  ['starts afresh after a time', { dailyAt: 20 }, { words: 'Archived: its next message brings it back, afresh after', at: 20 }],
])('an archived session %s with its next message', (_, next, expected) => {
  expect(whenBack({ nextResetByCall: { rule: 'r', due: false, timeZone: 'UTC', ...next } }, 10)).toEqual(expected);
});
