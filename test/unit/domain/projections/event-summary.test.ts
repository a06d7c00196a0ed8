import { expect, test } from 'vitest';
import { summaryOf } from '../../../../shared/domain/projections/event-summary.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';

const reset = (fields: object): string =>
  summaryOf({ type: 'session_reset', generation: 2, reason: 'said so', ...fields } as SessionEvent, (text) => text);
const idle = { trigger: 'idle', rule: 'session.reset', lastUpdateAt: 1_000, boundaryAt: 1_000 + 90 * 60_000 };

test.each([
  [reset({ cause: idle }), 'generation 2, idle for over 90 min: session.reset'],
  [reset({ cause: { trigger: 'command', rule: '/new' } }), 'generation 2, command: /new'],
  [reset({ forkedFrom: { rev: 14, seq: 18 } }), 'generation 2, from commit 14'],
  [reset({}), 'generation 2, said so'],
])('a reset says why: %s', (found, expected) => {
  expect(found).toBe(expected);
});
