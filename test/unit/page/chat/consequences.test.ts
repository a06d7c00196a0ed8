import { expect, test } from 'vitest';
import type { ChatItem } from '../../../../services/page/chat/chat-model.ts';
import { consequences, laterThan } from '../../../../services/page/chat/consequences.ts';

/** What somebody is told who tries a message again. */

const items = (kinds: string): readonly ChatItem[] =>
  kinds.split(' ').map((kind, at) => {
    const [name, flag] = kind.split('-');
    return { kind: name, id: `${at}`, ...(flag !== undefined && { [flag]: true }) } as unknown as ChatItem;
  });
const told = (kinds: string, isRunning = false): string => consequences(laterThan(items(kinds), '0'), isRunning);

test.each([
  ['the recorded messages below it', 'said said said', '2 messages'],
  ['no answer that was stopped, of which nothing is recorded', 'said said-isStopped mark said', '1 message'],
  ['none that a fork left behind already', 'said said-isLeft said', '1 message'],
])('what is left behind is %s', (_, kinds, expected) => {
  expect(told(kinds)).toContain(`leaves behind what is below it: ${expected}. That stays in the log.`);
});

test('where a stopped answer is all that came, nothing is left behind', () => {
  expect(told('said said-isStopped mark')).toBe('The conversation goes on from before this message.');
});

test('that tools run again is said where one was used', () => {
  expect(told('said tool said')).toContain('Tools run again');
  expect(told('said said')).not.toContain('Tools run again');
});

test('that the answer under way is lost is said while there is one', () => {
  expect(told('said', true)).toBe(
    'The conversation goes on from before this message. The answer under way is stopped, and is not kept.',
  );
});
