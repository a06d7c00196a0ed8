import { expect, test } from 'vitest';
import { actionText, commandOf, placeText } from '../../../services/page/approvals/command-line.ts';
import { quoted } from '../../../shared/kit/one-line.ts';

/** The command of an approval, as a person writes it. */

const actionOf = (...command: string[]): string => `run ${quoted(command, 1_200)} in the workspace`;

test.each([
  [['git', 'push', '--force'], 'git push --force'],
  [['sh', '-c', 'date >> ran.txt; cat ran.txt'], "sh -c 'date >> ran.txt; cat ran.txt'"],
  [['echo', "it's", ''], "echo 'it'\\''s' ''"],
  [['echo', '"] in an empty folder'], `echo '"] in an empty folder'`],
  [['sh', '-c', 'one\ntwo'], "sh -c 'one\ntwo'"],
])('%j is written as in a shell', (command, expected) => {
  expect(commandOf(actionOf(...command))).toEqual({ command: expected, place: 'the workspace' });
});

test('the folder of a command is told in words that say why it is empty', () => {
  expect(placeText('an empty folder')).toBe('an empty working folder, as the agent has no workspace');
  expect(placeText('the workspace')).toBe('the workspace');
});

test.each([
  ['a character that turns the text around', actionOf('echo', '\u202e')],
  ['a control character', actionOf('echo', '\u001b[2K')],
  ['a space that is none', actionOf('echo', '\u00a0')],
  ['another action', 'read the file "["a"]"'],
])('%s: the action stays as it is told', (_, action) => {
  expect(commandOf(action)).toBeNull();
});

test.each([
  [actionOf('rm', '-rf', 'old'), 'rm -rf old'],
  ['write 3 bytes to "a"', 'write 3 bytes to "a"'],
])('%s waits as %s', (action, expected) => {
  expect(actionText(action)).toBe(expected);
});
