import { expect, test } from 'vitest';
import { causeOf } from '../../../services/page/events/cause.ts';
import type { NatterEvent } from '../../../shared/client/main.ts';

const event = (id: string, type: string, at: number, more: object = {}): NatterEvent =>
  ({ id, seq: Number(id.split('.')[0]), type, at, correlationId: 'run', key: 'k', ...more }) as unknown as NatterEvent;

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const events = [
  event('1.0', 'user_message', 1_000, { message: { text: 'hi' } }),
  event('1.1', 'turn_started', 1_000, { attempt: 1 }),
  event('2.0', 'user_message', 1_100, { correlationId: 'other' }),
  event('3.0', 'model_step', 1_900, { step: 1, usage }),
  event('3.1', 'prompt_changed', 1_900),
  event('3.2', 'assistant_message', 1_900, { text: 'hello' }),
  event('4.0', 'delivery_reported', 2_500, { correlationId: 'delivery', outboundId: '3.2', outcome: 'unknown' }),
  event('5.0', 'delivery_reported', 2_600, { correlationId: 'delivery', outboundId: '2.0', outcome: 'failed' }),
];

test('an event stands between what it came from and what became of it, up to the delivery', () => {
  const [, started] = events;
  expect(causeOf(started as NatterEvent, events).map(({ words, afterMs }) => [words, afterMs])).toEqual([
    ['message', 0],
    ['started', 0],
    ['step 1', 900],
    ['answer', 0],
    ['delivery unknown', 600],
  ]);
});

test('an event that is no stage by itself is one where it is looked at', () => {
  const changed = events.find(({ type }) => type === 'prompt_changed') as NatterEvent;
  expect(causeOf(changed, events).map(({ words }) => words)).toContain('prompt changed');
});
