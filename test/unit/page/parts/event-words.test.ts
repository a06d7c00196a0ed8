import { expect, test } from 'vitest';
import { eventWords, meaningOf, plainSummary, typeWords } from '../../../../services/page/parts/event-words.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';

/** Events as people read them who know no codes and no types. */

const event = (type: string, more: object = {}): SessionEvent => ({ type, v: 1, ...more }) as unknown as SessionEvent;
const commits = { fromRev: 1, toRev: 14 };

test.each([
  ['turn_failed', 'answer failed'],
  ['turn_completed', 'answer completed'],
  ['introspected', 'checkpoint done'],
  ['assistant_message', 'assistant message'],
])('the type %s is "%s"', (type, words) => {
  expect(typeWords(type)).toBe(words);
});

test('a reset that goes on from an earlier moment is a fork', () => {
  expect(eventWords(event('session_reset', { forkedFrom: { rev: 3 } }))).toBe('forked');
  const edited = { forkedFrom: { rev: 3 }, cause: { trigger: 'fork', rule: 'another text' } };
  expect(eventWords(event('session_reset', edited))).toBe('edited');
  expect(eventWords(event('session_reset'))).toBe('session reset');
});

test.each([
  ['cancelled', ['a'], 'message taken back', ''],
  ['cancelled', ['a', 'b'], 'queue cleared', 'cancelled'],
  ['/stop', ['a'], 'queue cleared', '/stop'],
])('a queue that was cleared (%s) of %j is "%s"', (reason, turnIds, words, summary) => {
  const cleared = event('queue_cleared', { reason, turnIds });
  expect([eventWords(cleared), plainSummary(cleared)]).toEqual([words, summary]);
});

test.each([
  [
    'turn_failed',
    { code: 'model_unavailable', message: 'no route' },
    'the provider cannot be reached, or is in trouble: no route',
  ],
  [
    'turn_failed',
    { code: 'model_unavailable', message: 'HTTP 500: oops' },
    'the provider answered with an error of its own: HTTP 500: oops',
  ],
  ['turn_failed', { code: 'busy', message: 'it is busy' }, 'it is busy'],
  ['turn_failed', { code: 'model_auth', message: '' }, 'the provider refused the key'],
  ['assistant_message', { text: '## Plan\n\n**First** the _roof_' }, 'Plan First the roof'],
  ['model_step', { step: 2, usage: { totalTokens: 9 }, text: 'I **look**' }, 'step 2, 9 tokens: I look'],
  ['tool_result', { tool: 'exec', outcome: 'ok', text: '__init__.py' }, 'exec ok: __init__.py'],
  ['message_refused', { code: 'queue_full' }, 'queue full'],
  ['checkpoint_requested', { reason: 'new_session', ...commits }, 'before a reset or a fork, of commits 1 to 14'],
  ['introspected', { reason: 'idle', description: 'A talk', ...commits }, 'after a silence, of commits 1 to 14: A talk'],
  ['introspected', { reason: 'manual', ...commits }, 'asked for, of commits 1 to 14'],
  [
    'introspection_failed',
    { reason: 'turn_limit', code: 'model_timeout', message: 'late', ...commits },
    'after many answers, of commits 1 to 14: no answer came in time: late',
  ],
])('%s of %j is "%s"', (type, more, words) => {
  expect(plainSummary(event(type, more))).toBe(words);
});

test.each([
  ['before the reset', {}],
  ['before the fork', { forkedFrom: { rev: 3 } }],
])('a checkpoint beside the commit that it belongs to is "%s"', (words, more) => {
  const asked = event('checkpoint_requested', { reason: 'new_session', ...commits });
  expect(plainSummary(asked, [asked, event('session_reset', more)])).toBe(`${words}, of commits 1 to 14`);
});

test('what a checkpoint is, is said where one is named', () => {
  expect(meaningOf(event('checkpoint_requested'))).toContain('a model reads what was said');
  // It is recorded for a first answer as well, before which there were none.
  expect(meaningOf(event('prompt_changed'))).toBe('These are the standing instructions that the model gets from now on.');
  expect(meaningOf(event('user_message'))).toBeNull();
});
