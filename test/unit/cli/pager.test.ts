import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { showLines } from '../../../services/cli/pager.ts';
import { createTerminal, type World } from '../../../services/cli/terminal.ts';

const lines = ['one', 'two \u001b[31mred\u001b[39m \u001b[8mhidden \u001b[2Jgone', 'three', 'four'];
const harmless = 'one\ntwo \u001b[31mred\u001b[39m [8mhidden [2Jgone\nthree\nfour\n';

/** What is printed, and what the pager gets. */
const shown = async (given: {
  rows?: number;
  interactive?: boolean;
  pager?: string;
}): Promise<{ printed: string; paged: string }> => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-pager-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'paged');
  let printed = '';
  const { rows = 3, interactive = true, pager = `cat > '${file}'` } = given;
  const out = { write: (text: string) => (printed += text) };
  const terminal = createTerminal({ out, err: out, interactive, now: () => 0 });
  const env = { PATH: process.env.PATH, PAGER: pager };
  await showLines({ terminal, output: { rows }, env } as unknown as World, lines);
  const read = (): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  return { printed, paged: read() };
};

test.each<[string, Parameters<typeof shown>[0], 'printed' | 'paged']>([
  ['more lines than the terminal has go to the pager', {}, 'paged'],
  ['fewer do not', { rows: 5 }, 'printed'],
  ['nor does what is no terminal', { interactive: false }, 'printed'],
  ['nor with PAGER=cat', { pager: 'cat' }, 'printed'],
  ['nor to a pager that does not exist', { pager: 'no-such-pager-here' }, 'printed'],
])('%s, and nothing in them controls the terminal', async (_, given, where) => {
  expect(await shown(given)).toEqual({ printed: '', paged: '', [where]: harmless });
});

test('a chat that has the screen gets what the program says', () => {
  let [printed, above] = ['', ''];
  const out = { write: (text: string) => (printed += text) };
  const terminal = createTerminal({ out, err: out, interactive: true, now: () => 0 });
  terminal.divert((text) => (above += text));
  terminal.note('while \u001b[2Jit is open');
  terminal.divert(null);
  terminal.note('after');
  expect({ printed, above }).toEqual({ printed: 'after\n', above: 'while [2Jit is open' });
});
