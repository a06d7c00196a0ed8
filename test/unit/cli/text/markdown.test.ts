import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import pc from 'picocolors';
import { describe, expect, test } from 'vitest';
import { markdownLines } from '../../../../services/cli/text/markdown.ts';
import { cutToWidth, widthOf, wrapToWidth } from '../../../../services/cli/text/text-width.ts';

const plain = (text: string, width = 40): string => stripVTControlCharacters(markdownLines(text, width).join('\n'));

test.each([
  ['a heading', '# Title\ntext', 'Title\n\ntext'],
  ['marks', 'a **bold** _word_ and `code`', 'a bold word and code'],
  ['bullets', '- one\n- two\n  - three', '• one\n• two\n  • three'],
  ['numbers', '3. one\n4. two', '3. one\n4. two'],
  ['code as it is', '```ts\nconst  a = 1;\n\n  b();\n```', '  const  a = 1;\n\n    b();'],
  ['a quote', '> one\n> two', '│ one\n│ two'],
  ['a link with its address', '[docs](https://example.org/a)', 'docs (https://example.org/a)'],
  ['an address once', '<https://example.org>', 'https://example.org'],
  ['line breaks as written', 'one\ntwo', 'one\ntwo'],
  ['HTML as text', '<b>x</b>', '<b>x</b>'],
  ['words that do not fit in the next line', 'aaa bbb ccc', 'aaa bbb\nccc', 8],
  [
    'a table in columns',
    'Sizes:\n| Name | Size | 漢字 |\n|:--|--:|:-:|\n| **a** | 12 | `x\\|y` |\n| long one | 3 |',
    'Sizes:\nName     │ Size │ 漢字\n─────────┼──────┼─────\na        │   12 │ x|y\nlong one │    3 │',
  ],
  ['a table in a list', '- a\n\n  a|b\n  -|-\n  1|2', '• a\n\n  a │ b\n  ──┼──\n  1 │ 2'],
  ['a tab in a cell as a space', 'a\tb|c\n-|-', 'a b │ c\n────┼──'],
  ['a long cell in its column', 'a|b\n-|-\none two three|4', 'a       │ b\n────────┼──\none two │ 4\nthree   │', 11],
  [
    'a table that has no room as it is written',
    'a|b|c|d\n-|-|-|-\n11111|22222|33333|44444',
    'a|b|c|d\n-|-|-|-\n11111|22222|\n33333|44444',
    12,
  ],
  ['bars that are no table', 'a|b\n---|---|---', 'a|b\n---|---|---'],
  ['an item below its text', '- aaa bbb ccc', '• aaa bbb\n  ccc', 12],
  ['a word that fits nowhere', 'abcdefgh', 'abcd\nefgh', 4],
])('shows %s', (_, text, expected, width = 40) => expect(plain(text, width)).toBe(expected));

test('a heading is bold where there are colours, and nowhere else', () => {
  expect(markdownLines('**x**', 40)).toEqual([pc.isColorSupported ? '\u001b[1mx\u001b[22m' : 'x']);
});

/** What is left when our own colours are taken away. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the character that starts a colour.
const colours = /\u001b\[\d+m/g;
const rest = (text: string, width: number): string => markdownLines(text, width).join('\n').replaceAll(colours, '');
const harmful = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

describe('hostile text', () => {
  test.each([
    ['clears the screen', '\u001b[2Jx'],
    ['sets the title', '\u001b]0;pwned\u0007x'],
    ['in code', '```\n\u001b[2J\n```'],
    ['in inline code', '`\u009b2J`'],
    ['in an address', '[x](<https://a/\u001b[2J>)'],
    ['as a character reference', '&#27;[2J &#x9b;2J &#8238;x'],
    ['in HTML', '<b \u001b[2J>'],
  ])('that %s is harmless', (_, text) => {
    expect(rest(text, 40)).not.toMatch(harmful);
  });

  test('no text at all controls the terminal, or is wider than it', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '\u001b[',
        '2J',
        '\u009b',
        '&#27;',
        '`',
        '```\n',
        '**',
        '|',
        '\n|-|-|\n',
        '\n',
        '\n\n',
        '> ',
        '- ',
        '1. ',
        '[a](',
        ')',
        ' ',
        '漢字',
        '\t',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 24, max: 60 }), (parts, width) => {
        const lines = rest(parts.join(''), width).split('\n');
        expect(lines.join('')).not.toMatch(harmful);
        expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width + 40);
      }),
      { numRuns: 200 },
    );
  });
});

describe('width', () => {
  test.each([
    ['abc', 3],
    ['漢字', 4],
    ['é', 1],
    ['👩‍👩‍👧', 2],
    ['\u001b[1mab\u001b[22m', 2],
    ['', 0],
  ])('of %j is %i', (text, columns) => expect(widthOf(text)).toBe(columns));

  test('cutting and wrapping keep the text and the width', () => {
    expect(cutToWidth('漢字漢', 5)).toEqual(['漢字', '漢']);
    expect(cutToWidth('', 5)).toEqual(['']);
    expect(wrapToWidth('one two\nthree', 5)).toEqual(['one', 'two', 'three']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (text, width) => {
        const rows = cutToWidth(text, width);
        expect(rows.join('')).toBe(text);
        expect(Math.max(...rows.map(widthOf))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
