import { expect, test } from 'vitest';
import { modelAfter, modelText } from '../../../../services/page/parts/model-words.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';

/** The model of a session, as the page says it of now and of a moment. */

const events = [
  { type: 'user_message' },
  { type: 'model_step', model: 'offline' },
  { type: 'model_step', model: 'cheap', flush: true },
  { type: 'settings_changed', changes: { model: 'big' } },
  { type: 'model_step', model: 'big' },
  { type: 'settings_changed', changes: { model: null } },
  { type: 'model_step', model: 'small' },
] as unknown as SessionEvent[];

test.each([
  [1, undefined, null],
  [2, undefined, 'model: offline (built-in)'],
  [3, undefined, 'model: offline (built-in)'],
  [4, 'big', 'model: big, set by /model'],
  [5, 'big', 'model: big, set by /model'],
  // What was set is not so any more, and the agent's has not answered since.
  [6, undefined, null],
  [7, undefined, 'model: small'],
])('after %i events, %s set', (count, given, expected) => {
  const last = events.slice(0, count).reduce<string | undefined>(modelAfter, undefined);
  expect(modelText(given, last)).toBe(expected);
});
