import { expect, test } from 'vitest';
import { createTerminal, shownOn } from '../../../services/cli/terminal.ts';

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
