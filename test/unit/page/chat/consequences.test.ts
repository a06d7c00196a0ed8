import { expect, test } from 'vitest';
import type { ChatItem } from '../../../../services/page/chat/chat-model.ts';
import { consequences, isBusy } from '../../../../services/page/chat/consequences.ts';

/** What somebody is told who tries a message again. */

const items = (kinds: string): readonly ChatItem[] =>
  kinds.split(' ').map((kind, at) => {
    const [name, flag] = kind.split('-');
    const more = name === 'tool' ? { status: flag ?? 'ok' } : flag !== undefined && { [flag]: true };
    return { kind: name, id: `${at}`, ...more } as unknown as ChatItem;
  });
const told = (kinds: string, isRunning = false, isFirst = false): string =>
  consequences({ items: items(kinds), isRunning }, '0', isFirst);

test.each([
  ['the recorded messages below it', 'said said said', '2 messages'],
  ['no answer that was stopped, of which nothing is recorded', 'said said-isStopped mark said', '1 message'],
  ['none that a fork left behind already', 'said said-leftBy said', '1 message'],
])('what is left behind is %s', (_, kinds, expected) => {
  expect(told(kinds)).toContain(`leaves behind what is below it: ${expected}. That stays in the log.`);
});

test('where a stopped answer is all that came, nothing is left behind', () => {
  expect(told('said said-isStopped mark')).toBe('The conversation goes on from before this message.');
});

test.each([
  ['a call that waits for a person', 'said tool-waiting approval', ' The call that waits for an approval does not run.'],
  ['a message that waits', 'said said said-isQueued', ' 1 message in the queue is dropped.'],
  ['messages that wait', 'said said-isQueued said-isQueued', ' 2 messages in the queue are dropped.'],
])('what ends without being recorded is said: %s', (_, kinds, expected) => {
  expect(told(kinds)).toContain(expected);
  expect(told(kinds.replace('approval', 'approval-unanswered').replaceAll('-isQueued', ''))).not.toContain(expected);
  expect(isBusy({ items: items(kinds), isRunning: false })).toBe(true);
});

test('before the first message there is nothing to go on from', () => {
  expect(told('said said', false, true)).toBe(
    'This session is reset, and begins anew with this message, and the agent no longer knows what is below it: 1 message. That stays in the log.',
  );
  expect(isBusy({ items: items('said said'), isRunning: false })).toBe(false);
});

test('that tools run again is said where one was used', () => {
  expect(told('said tool said')).toContain('Tools run again');
  expect(told('said said')).not.toContain('Tools run again');
  expect(told('said tool-denied said')).not.toContain('Tools run again');
});

test('that the answer under way is lost is said while there is one', () => {
  expect(told('said', true)).toBe(
    'The conversation goes on from before this message. The answer under way is stopped, and is not kept.',
  );
});
