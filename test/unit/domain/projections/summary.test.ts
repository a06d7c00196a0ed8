import { expect, test } from 'vitest';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { tell } from '../../../support/domain/given.ts';

test('a row is a new one after each commit: others may hold the one before', () => {
  let row: IndexRow | null = null;
  for (const commit of tell('post m1', 'stop', 'append m2', 'delete', 'post m3').commits) {
    const before: IndexRow | null = row === null ? null : Object.freeze(row);
    const copy = structuredClone(before);
    row = summarize(before, commit);
    expect(before).toEqual(copy);
    expect(row).not.toBe(before);
  }
  expect(row).toMatchObject({ generation: 2, deleted: false });
});

const rowAfter = (...rows: string[]): IndexRow | null =>
  tell(...rows).commits.reduce<IndexRow | null>((row, commit) => summarize(row, commit), null);

test('a row tells why its generation began: by a reset, or as a fork of a commit', () => {
  expect(rowAfter('post m1')?.lastReset).toBeUndefined();
  const reset = rowAfter('post m1', 'stop', 'reset s2 @5000', 'append m2 @6000');
  expect(reset?.lastReset).toEqual({ trigger: 'command', rule: '/new', actor: 'test', at: 5_000, seq: 6 });
  const forked = rowAfter('post m1', 'stop', 'fork s2 1 @5000');
  expect(forked?.lastReset).toMatchObject({ trigger: 'fork', actor: 'test', fromSeq: 2, fromRev: 1 });
});

test.each([
  ['those of the first message, whatever is said later', ['post m1', 'stop', 'append m2'], 'text of m1'],
  ['after a reset that was asked for the same', ['post m1', 'stop', 'reset s2 @5000'], 'text of m1'],
  ['until something is said in it', ['post m1', 'stop', 'reset s2 @5000', 'append m2 @6000'], 'text of m2'],
  ['of a fork of what came after them the same', ['post m1', 'stop', 'fork s2 1 @5000', 'append m2 @6000'], 'text of m1'],
  [
    'of a fork of what came before them others',
    ['origin chat', 'post m1', 'stop', 'fork s2 1 @5000', 'append m2 @6000'],
    'text of m2',
  ],
  ['none of a deleted session', ['post m1', 'stop', 'delete'], ''],
  ['after a deletion others', ['post m1', 'stop', 'delete', 'append m2'], 'text of m2'],
  [
    'of a fork that takes the reset back the same, whatever is said then',
    ['post m1', 'stop', 'reset s2 @5000', 'fork s3 1 @6000', 'append m2 @7000'],
    'text of m1',
  ],
] as const)('the first words of a row: %s', (_, rows, expected) => {
  expect(rowAfter(...rows)?.firstWords).toBe(expected);
});

test.each([
  ['a fork of a commit before it', ['origin chat', 'post m1', 'stop', 'fork s2 1 @5000'], '', undefined],
  ['a fork of a commit after an earlier one', ['post m1', 'stop', 'append m2', 'fork s2 1 @5000'], '', undefined],
  ['a fork of a commit after it', ['post m1', 'stop', 'fork s2 1 @5000'], 'text of m1', expect.any(String)],
  [
    'what is said after the fork',
    ['origin chat', 'post m1', 'stop', 'fork s2 1 @5000', 'append m2 @6000'],
    'text of m2',
    expect.any(String),
  ],
  ['a reset', ['post m1', 'stop', 'reset s2 @5000'], '', undefined],
  ['a fork from that reset', ['post m1', 'stop', 'reset s2 @5000', 'fork s3 3 @6000'], '', undefined],
  ['what is said after the reset', ['post m1', 'stop', 'reset s2 @5000', 'append m2 @6000'], 'text of m2', expect.any(String)],
  [
    'a reset with the turn of a message that waited',
    ['post m1', 'post-stale m2', 'fail m1/1 1'],
    'text of m2',
    expect.any(String),
  ],
] as const)('the last message of a row: %s', (_, rows, lastMessagePreview, lastMessageId) => {
  const row = rowAfter(...rows);
  expect([row?.lastMessagePreview, row?.lastMessageId]).toEqual([lastMessagePreview, lastMessageId]);
});

test.each([
  ['one that waits', ['post m1', 'post m2'], 'text of m2'],
  ['the one before, once that is taken back', ['post m1', 'post m2', 'cancel m2'], 'text of m1'],
  ['the one before both', ['post m1', 'post m2', 'post m3', 'cancel m2', 'cancel m3'], 'text of m1'],
  ['the one before both, in whatever order', ['post m1', 'post m2', 'post m3', 'cancel m3', 'cancel m2'], 'text of m1'],
  ['one that still stands', ['post m1', 'post m2', 'post m3', 'cancel m2'], 'text of m3'],
  ['what was said since', ['post m1', 'post m2', 'append m3', 'cancel m2'], 'text of m3'],
  ['the answer that came meanwhile', ['post m1', 'post m2', 'reply m1/1 1', 'post m3', 'cancel m3'], 'step 1 of m1/1'],
  ['one that was dropped and not taken back', ['post m1', 'post m2', 'stop'], 'text of m2'],
] as const)('a row of a queue quotes %s', (_, rows, expected) => {
  expect(rowAfter(...rows)?.lastMessagePreview).toBe(expected);
});

test.each([
  ['the first line', 'Dear agent,\nplan a trip', 'Dear agent,'],
  ['the first line that says something', '\n---\n```sh\nnpm test\n```', 'npm test'],
  ['all of a text that says nothing', '?!\n?!', '?! ?!'],
])('the first words of a message are %s', (_, text, expected) => {
  const [commit] = tell('append m1').commits;
  if (commit === undefined) throw new Error('no commit');
  const events = commit.events.map((event) =>
    event.type === 'user_message' ? { ...event, message: { ...event.message, text } } : event,
  );
  expect(summarize(null, { ...commit, events }).firstWords).toBe(expected);
});

test('the first words stay after a reset by the clock', () => {
  const [first, ...later] = tell('post m1', 'stop', 'reset s2 @5000', 'append m2 @6000').commits;
  if (first === undefined) throw new Error('no commit');
  const byClock = later.map((commit) => ({
    ...commit,
    events: commit.events.map((event) =>
      event.type === 'session_reset' ? { ...event, cause: { trigger: 'daily' as const, rule: '04:00' } } : event,
    ),
  }));
  expect(byClock.reduce(summarize, summarize(null, first)).firstWords).toBe('text of m1');
});

test.each([
  ['program', ''],
  ['participant', 'text of m1'],
] as const)('what a %s called natter says first names a session: %j', (role, expected) => {
  const [first, ...later] = tell('post m1', 'stop', 'append m2').commits;
  if (first === undefined) throw new Error('no commit');
  const asked = {
    ...first,
    events: first.events.map((event) =>
      event.type === 'user_message' ? { ...event, message: { ...event.message, sender: { id: 'natter', role } } } : event,
    ),
  };
  expect(summarize(null, asked).firstWords).toBe(expected);
  expect(later.reduce(summarize, summarize(null, asked)).firstWords).toBe(expected || 'text of m2');
});

test('a row of an older version does not take a later message for the first', () => {
  const [first, ...later] = tell('post m1', 'stop', 'append m2').commits;
  if (first === undefined) throw new Error('no commit');
  const old: IndexRow = { ...summarize(null, first), firstWords: undefined, firstWordsId: undefined };
  expect(later.reduce(summarize, old).firstWords).toBeUndefined();
});

test.each([
  ['a stop', ['post m1', 'stop'], true],
  ['a reset while an answer runs', ['post m1', 'reset s2 @5000'], false],
  ['a fork while an answer runs', ['post m1', 'fork s2 1 @5000'], false],
] as const)('whether the last answer of this generation was stopped: after %s', (_, rows, expected) => {
  expect(rowAfter(...rows)?.abortedLastRun).toBe(expected);
});

test.each([
  ['while it waits', ['post m1', 'post m2'], 1],
  ['once its turn begins', ['post m1', 'post m2', 'reply m1/1 1'], undefined],
  ['once the queue was cleared', ['post m1', 'post m2', 'stop'], undefined],
  ['after a reset', ['post m1', 'post m2', 'reset s2 @5000'], undefined],
] as const)('how many messages a row has as waiting: %s', (_, rows, expected) => {
  expect(rowAfter(...rows)?.waitingMessages?.length).toBe(expected);
});
