import { expect, test } from 'vitest';
import { upcast, upcastWith } from '../../../../shared/domain/session/upcast.ts';

const read = upcastWith({
  'session_slept@1': ({ why }) => ({ type: 'session_slept', v: 2, cause: why }),
  'session_slept@2': ({ cause }) => ({ type: 'session_deactivated', v: 1, reason: cause }),
});

test('an event of an older version is read as the newest, one step after the other (F6)', () => {
  const today = { type: 'session_deactivated', v: 1, reason: 'idle' };
  expect(read({ type: 'session_slept', v: 1, why: 'idle' })).toEqual(today);
  expect(read({ type: 'session_slept', v: 2, cause: 'idle' })).toEqual(today);
  expect(read(today)).toEqual(today);
});

test.each([
  ['of an unknown type', { type: 'session_slept', v: 1, why: 'idle' }],
  ['of a later version', { type: 'session_deactivated', v: 2, reason: 'idle' }],
  ['without a type', { v: 1 }],
  ['that is none', null],
])('an event %s is refused', (_, event) => {
  expect(() => upcast(event)).toThrow();
});
