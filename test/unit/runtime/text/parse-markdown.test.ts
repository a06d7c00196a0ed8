import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cutsOf, partsOf } from '../../../../services/delivery/parts/cut.ts';
import { plainTextOf } from '../../../../services/delivery/parts/plain-text.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { parseMarkdown, parsingSteps } from '../../../../shared/runtime/text/parse-markdown.ts';

const hostile = {
  'quotes in quotes': '> ',
  'lists in lists': '1. ',
  'bullets in bullets': '- ',
  emphasis: '*a_ ',
  'emphasis of two kinds': '**a*b',
  'links that are never closed': '[a](b',
  'all together': '*_`[',
};
const deep = `${'> '.repeat(49)}${'\n'.repeat(400)}`;
const repeated = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

describe('I11: a hostile answer does not keep the process', () => {
  test.each(Object.entries(hostile))('%s grow faster than the text, and count as plain text', (_, piece) => {
    expect(parsingSteps(repeated(piece, 20_000)) / parsingSteps(repeated(piece, 5_000))).toBeGreaterThan(10);
    for (const length of [4_500, limits.partCharacters]) expect(parseMarkdown(repeated(piece, length))).toBeNull();
  });

  test.each(Object.entries({ ...hostile, 'empty lines in many quotes': deep }))(
    '240,000 characters of %s are cut into parts that fit, and nothing is lost',
    (_, piece) => {
      const text = repeated(piece, 240_000);
      const parts = partsOf(text, cutsOf(text, { maximumLength: 4_096 }));
      expect(parts.every((part) => part.length <= 4_096)).toBe(true);
      expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      expect(plainTextOf(text)).toBe(text);
    },
  );

  test('behind a number of characters even a harmless text is cut as plain text', () => {
    const code = `\`\`\`ts\n${'let x = 1;\n'.repeat(12_000)}\`\`\``;
    const cuts = cutsOf(code, { maximumLength: 4_000 });
    expect(cuts.filter(({ next }) => next < limits.markdownCharacters).every(({ fence }) => fence === '```ts')).toBe(true);
    expect(cuts.some(({ next }) => next > limits.markdownCharacters)).toBe(true);
    expect(cuts.at(-1)?.fence).toBeUndefined();
    expect(parseMarkdown('a'.repeat(limits.markdownCharacters + 1))).toBeNull();
  });

  test('what people write is read as Markdown', () => {
    const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
    const texts = ['README.md', 'CHANGELOG.md', ...pages.map((path) => join('docs', path))].map((path) =>
      readFileSync(path, 'utf8'),
    );
    const list = '- **bold** and _more_, see [the page](https://example.org/a)\n'.repeat(600);
    const nested = '- one\n  - two\n    - three\n      > > > quoted\n'.repeat(200);
    const taken = [...texts, list, nested].map((text) => text.slice(0, limits.partCharacters));
    expect(taken.length).toBeGreaterThan(50);
    expect(taken.filter((text) => parseMarkdown(text) === null)).toEqual([]);
  });
});
