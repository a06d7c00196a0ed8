import { expect, test } from 'vitest';
import { sessionIn, shortId, valueWords } from '../../../services/page/time-machine/value-words.ts';

/** Values of a session's state, as people read them. */

test.each([
  [undefined, 'none'],
  [null, 'none'],
  [{}, 'none'],
  [[], 'none'],
  [true, 'yes'],
  [0, '0'],
  ['as it is', 'as it is'],
  [{ id: 't1', attempt: 1, joinedMessages: [] }, 'attempt 1'],
  [{ id: 'a3', tool: 'exec', onceOnly: true, hash: 'ab12', expiresAt: 1796124172660, tries: 0 }, 'tool exec, once only yes'],
  [{ name: 'memory', digest: '8cb0a949' }, 'name memory'],
  [[{ id: 'a' }, { id: 'b' }], '(id a); (id b)'],
  [{ a: { b: { c: { d: 1 } } } }, 'a (b (c …))'],
  ['x'.repeat(500), `${'x'.repeat(400)}…`],
])('%j', (value, expected) => {
  expect(valueWords(value)).toBe(expected);
});

test.each([
  ['context.turn.id', 'YWdlbnQ6bWFpbjpzdWJhZ2Vu', 'YWdlbnQ6…'],
  ['context.turn.messageId', 'telegram:12345:678', 'telegram…'],
  ['context.turn.id', 'm1', null],
  ['context.settings.model', 'anthropic/claude-opus', null],
  ['context.turn.step', 2, null],
])('of an id of the field %s its beginning is shown: %s', (path, value, expected) => {
  expect(shortId(path, value)).toBe(expected);
});

test('a run in another session is told by that session', () => {
  const key = 'agent:main:subagent:e239';
  expect(sessionIn({ key, runId: 'r1' })).toEqual({ key, rest: null });
  expect(sessionIn({ key, runId: 'r1', askedBy: 'ann' })).toEqual({ key, rest: 'asked by ann' });
  for (const value of [undefined, null, key, {}, { key: 3 }, { key: 'labels' }]) expect(sessionIn(value)).toBeNull();
});
