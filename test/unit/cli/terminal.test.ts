import { expect, test } from 'vitest';
import { createTerminal, shownOn, table } from '../../../services/cli/terminal.ts';

/** What a stream gets of a coloured line and of progress that nobody waited for. */
const written = (isTTY: boolean, env: Readonly<Record<string, string>>): string => {
  let text = '';
  const stream = shownOn({ isTTY, write: (part: string) => (text += part) }, env);
  const terminal = createTerminal({ out: stream, err: stream, interactive: false, now: () => 0 });
  terminal.progress('working');
  terminal.out('\u001b[31mred\u001b[39m');
  return text;
};
const red = '\u001b[31mred\u001b[39m\n';

test.each<[string, boolean, Record<string, string>, string]>([
  ['a terminal has colours, and something moves', true, {}, `\r\u001b[K⠋ working\r\u001b[K${red}`],
  ['nothing moves on a dumb one', true, { TERM: 'dumb' }, red],
  ['nothing moves in a build', true, { CI: '1' }, red],
  ['a pipe has no colours', false, {}, 'red\n'],
  ['nor has one of a build', false, { CI: '1' }, 'red\n'],
  ['nor any but those who want them', false, { FORCE_COLOR: '1' }, red],
])('%s', (_, isTTY, env, expected) => expect(written(isTTY, env)).toBe(expected));

test.each<[string, boolean, string]>([
  ['breaks between words on a terminal', true, 'the packages of\nyour\nhttps://example.com/distribution\n'],
  ['stays one line elsewhere', false, 'the packages of your https://example.com/distribution\n'],
])('a note %s', (_, isTTY, expected) => {
  let text = '';
  const err = shownOn({ isTTY, columns: 16, write: (part: string) => (text += part) }, {});
  const terminal = createTerminal({ out: err, err, interactive: isTTY, now: () => 0 });
  terminal.note('the packages of your https://example.com/distribution');
  expect(text).toBe(expected);
});

test.each<[string, string[], number, string]>([
  ['as wide as its cells', ['main', 'a long message of many words'], 80, 'main  a long message of many words'],
  ['cut to the terminal', ['main', 'a long message of many words'], 24, 'main  a long message of…'],
  ['with the first column whole', ['agent:main:telegram:1', 'a long message'], 24, 'agent:main:telegram:1  a long mess…'],
  ['by what a terminal takes for a character', ['main', '日本語日本語日本語日本語'], 20, 'main  日本語日本語…'],
])('a table is %s', (_, row, columns, line) => {
  expect(table(['KEY', 'LAST'], [row], columns)[1]).toBe(line);
});
