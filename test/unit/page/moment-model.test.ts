import { expect, test } from 'vitest';
import { modelAt } from '../../../services/page/time-machine/moment-model.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';

/** The model in effect at a moment, as the time machine says it. */

const commits = [
  { events: [{ type: 'user_message' }] },
  { events: [{ type: 'model_step', model: 'offline' }] },
  { events: [{ type: 'settings_changed', changes: { model: 'big' } }] },
  { events: [{ type: 'model_step', model: 'big' }] },
  { events: [{ type: 'settings_changed', changes: { model: null } }] },
  { events: [{ type: 'model_step', model: 'small' }] },
] as unknown as RecordedCommit[];

test.each([
  [1, undefined, 'model: the agent’s own'],
  [2, undefined, 'model: offline (built-in)'],
  [3, 'big', 'model: big, set for this session'],
  [4, 'big', 'model: big, set for this session'],
  // What was set is not so any more, and the agent's has not answered since.
  [5, undefined, 'model: the agent’s own'],
  [6, undefined, 'model: small'],
])('after %i commits, %s set', (place, chosen, expected) => {
  expect(modelAt(commits, place, chosen)).toBe(expected);
});
