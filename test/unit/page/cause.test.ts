import { expect, test } from 'vitest';
import { causeOf, recordedMs, sentBy } from '../../../services/page/events/cause.ts';
import type { LogEntry, NatterEvent } from '../../../shared/client/main.ts';

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

test('after a command that was recorded late, the line counts from when it was recorded', () => {
  const entry = { at: 1_000, recordedAt: 1_040, correlationId: 'run', causationId: 'run' } as LogEntry;
  expect(recordedMs(entry)).toBe(40);
  expect(recordedMs({ ...entry, recordedAt: 900 })).toBe(0);
  // A step of a host is not what somebody asked for.
  expect(recordedMs({ ...entry, causationId: 'step' })).toBeNull();
  const stages = causeOf(events[0] as NatterEvent, events, 40);
  expect(stages.map(({ afterMs }) => afterMs)).toEqual([40, 0, 860, 0, 600]);
});

test('the line ends with the delivery of what the event has sent, or of the last that its run has', () => {
  const deliverTo = { channel: 'telegram', to: '-1' };
  const run = [
    event('1.0', 'user_message', 1_000, { message: { text: 'hi', deliverTo } }),
    event('2.0', 'approval_requested', 1_100, { deliverTo }),
    event('3.0', 'assistant_message', 1_900, { text: 'hello', deliverTo }),
    event('3.1', 'notice', 1_900, { notice: { text: 'so', deliverTo } }),
    event('3.2', 'turn_completed', 1_900),
  ];
  const sent = (chosen?: NatterEvent, of = run) => chosen && sentBy(chosen, causeOf(chosen, of))?.id;
  expect(run.map((one) => sent(one))).toEqual(['3.1', '2.0', '3.0', '3.1', '3.1']);
  expect(sent(events[0], events)).toBeUndefined();
});

test('an event that is no stage by itself is one where it is looked at', () => {
  const changed = events.find(({ type }) => type === 'prompt_changed') as NatterEvent;
  expect(causeOf(changed, events).map(({ words }) => words)).toContain('prompt changed');
});

test('what a checkpoint did comes from the event that requested it, whichever of the two is looked at', () => {
  const run = [
    event('1.0', 'settings_changed', 900, { correlationId: 'other' }),
    event('2.0', 'checkpoint_requested', 1_000),
    event('5.0', 'introspected', 4_000, { correlationId: '2.0' }),
    event('5.1', 'memory_changed', 4_000, { correlationId: '2.0' }),
  ];
  const line = [
    ['checkpoint requested', 0],
    ['checkpoint done', 3_000],
    ['memory changed', 0],
  ];
  for (const chosen of run.slice(1)) expect(causeOf(chosen, run).map(({ words, afterMs }) => [words, afterMs])).toEqual(line);
});
