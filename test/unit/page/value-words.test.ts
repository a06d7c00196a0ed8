import { expect, test } from 'vitest';
import { valueWords } from '../../../services/page/time-machine/value-words.ts';

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
  [[{ id: 'a' }, { id: 'b' }], '(id a); (id b)'],
  [{ a: { b: { c: { d: 1 } } } }, 'a (b (c …))'],
  ['x'.repeat(500), `${'x'.repeat(400)}…`],
])('%j', (value, expected) => {
  expect(valueWords(value)).toBe(expected);
});
