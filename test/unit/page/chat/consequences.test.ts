import { signal } from '@preact/signals';
import { expect, test } from 'vitest';
import type { Chat, ChatItem } from '../../../../services/page/chat/chat-model.ts';
import { consequences, consequencesNow, isBusy } from '../../../../services/page/chat/consequences.ts';
import { leftWords } from '../../../../services/page/chat/resets.ts';

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
  ['itself and the recorded messages below it', 'said said said', '3 messages'],
  ['no answer that was stopped, of which nothing is recorded', 'said said-isStopped mark said', '2 messages'],
  ['none that a fork left behind already', 'said said-leftBy said', '2 messages'],
  ['none that waits, which is dropped', 'said said said-isQueued', '2 messages'],
  ['none that was dropped, which the agent never knew', 'said said said-isDropped', '2 messages'],
  ['an answer once, with what it said before its calls', 'said said-isPart tool said', '2 messages, 1 call'],
])('what is left behind is %s', (_, kinds, expected) => {
  expect(told(kinds)).toContain(`This message and what is below it are left behind: ${expected}. The log keeps them.`);
});

test('what the chat says of it afterwards is the same count', () => {
  const all = items('said said-isPart tool said said-isDropped said-isStopped');
  const counts = leftWords(all, all).split(': ')[1];
  expect(counts).toBe('2 messages, 1 call');
  expect(consequences({ items: all, isRunning: false }, '0', false)).toContain(`left behind: ${counts}.`);
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

test.each([
  ['a reset', 'mark-isBeginning', true],
  ['one that was left behind', 'mark-leftBy', false],
  ['another mark', 'mark', false],
])('going on from above %s says whether it is undone', (_, mark, isUndone) => {
  const words = 'The reset below it is undone: the agent knows again what was said before it.';
  expect(told(`said said ${mark} said`).includes(words)).toBe(isUndone);
  expect(told(`said said ${mark} said`, false, true)).not.toContain(words);
});

test('before the first message there is nothing to go on from', () => {
  expect(told('said said', false, true)).toBe(
    'This session is reset and begins anew with this message. This message and what is below it are left behind: 2 messages. The log keeps them.',
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

test('it is told again when something is recorded, and not with live text', () => {
  let passes = 0;
  const counting = (all: readonly ChatItem[]) =>
    Object.defineProperty([...all], 'slice', {
      value(...range: [number?, number?]) {
        passes += 1;
        return all.slice(...range);
      },
    });
  const chat = signal({ items: counting(items('said said')), isRunning: true, live: null } as unknown as Chat);
  const now = consequencesNow(chat, '0', () => false);
  const stop = now.subscribe(() => {});
  const first = passes;
  for (const text of ['a', 'a b']) chat.value = { ...chat.value, live: { turnId: 't', attempt: 1, step: 1, text } };
  expect([first > 0, passes]).toEqual([true, first]);
  chat.value = { ...chat.value, items: counting(items('said said said')) };
  expect(now.value).toContain('3 messages');
  stop();
});
