import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutsOf, partsOf } from '../../services/delivery/parts/cut.ts';
import { shareOf } from '../../services/delivery/parts/measure.ts';
import type { Cut } from '../../shared/ports/custody-log.ts';
import type { PartLimit } from '../../shared/ports/outlet.ts';
import { holds } from '../support/domain/arbitraries.ts';

const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('word', 'Straße', 'ends.', 'so?', '界界界', 'x'.repeat(40), '**bold** text', '`code`'),
  },
  fc.constantFrom(
    '👩‍👩‍👧‍👦',
    '🇩🇪🇫🇷',
    'e\u0301\u0302',
    '[a link](https://example.org/a)',
    '~~~',
    '> quoted',
    '- item',
    '# Head',
    '\r\n',
    '\t',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const code = fc
  .tuple(
    fc.constantFrom('```', '```ts', '~~~~ sh x', '  ```js', '> ```'),
    fc.array(fc.constantFrom('let x = 1;', '', '    deep', '``')),
  )
  .map(([fence, lines]) => `\n${fence}\n${lines.join('\n')}\n${/[`~]+/.exec(fence)?.[0]}\n`);
const text = fc
  .array(fc.oneof({ weight: 8, arbitrary: word }, fc.constantFrom('\n', '\n\n', '  \n'), code), { maxLength: 60 })
  .map((pieces) => pieces.join(' ').trim());
const limit: fc.Arbitrary<PartLimit> = fc.oneof(
  fc.record({ maximumLength: fc.integer({ min: 40, max: 400 }), unit: fc.constantFrom('utf16' as const, 'bytes', 'characters') }),
  fc.record({ maximumLength: fc.integer({ min: 60, max: 400 }), maximumLines: fc.integer({ min: 8, max: 12 }) }),
  // As a platform counts that takes HTML.
  fc.record({ maximumLength: fc.integer({ min: 60, max: 400 }) }).map((each) => ({ ...each, rendered: escaped })),
);
const escaped = (markdown: string): string => markdown.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** The text that parts give back, without the fences that were closed and opened again. */
const joined = (whole: string, cuts: readonly Cut[]): string => {
  const parts = partsOf(whole, cuts);
  return parts
    .map((part, index) => {
      const [opened, closed] = [cuts[index - 1]?.fence, cuts[index]?.fence];
      const begun = opened === undefined ? part : part.slice(opened.length + 1);
      expect(part.startsWith(opened ?? '')).toBe(true);
      const closing = closed === undefined ? '' : `\n${/^[^`~]*(`{3,}|~{3,})/.exec(closed)?.[0]}`;
      expect(part.endsWith(closing)).toBe(true);
      const { end = whole.length, next = whole.length } = cuts[index] ?? {};
      return begun.slice(0, begun.length - closing.length) + whole.slice(end, next);
    })
    .join('');
};
const isSplit = (whole: string, offset: number): boolean =>
  /[\uD800-\uDBFF]/.test(whole[offset - 1] ?? '') && /[\uDC00-\uDFFF]/.test(whole[offset] ?? '');

type Cutter = (whole: string, within: PartLimit) => readonly Cut[];
const faults: Readonly<Record<string, Cutter>> = {
  'the last part is forgotten': (whole, within) => {
    const cuts = cutsOf(whole, within);
    const last = cuts.at(-1);
    return last === undefined ? cuts : [...cuts.slice(0, -1), { ...last, next: whole.length }];
  },
  'a word is cut off': (whole, within) => cutsOf(whole, within).map((cut) => ({ ...cut, next: cut.next + 1 })),
  'the limit is another one': (whole, within) => cutsOf(whole, { ...within, maximumLength: (within.maximumLength ?? 0) + 1 }),
  'the unit is another one': (whole, within) => cutsOf(whole, { ...within, unit: 'characters' }),
  'fences are not counted': (whole, within) =>
    cutsOf(whole, within).map((cut) => (cut.fence ? { ...cut, fence: `${cut.fence}!` } : cut)),
  'it is cut anywhere': (whole, { maximumLength: most = 0 }) =>
    Array.from({ length: Math.ceil(whole.length / most) - 1 }, (_, index) => ({
      end: (index + 1) * most,
      next: (index + 1) * most,
    })),
};

describe('D12: the parts of a text', () => {
  const property =
    (cut: Cutter) =>
    ([whole, within]: [string, PartLimit]): void => {
      const cuts = cut(whole, within);
      for (const part of partsOf(whole, cuts)) {
        expect(shareOf(part, within)).toBeLessThanOrEqual(1);
        expect(part.trim()).not.toBe(cuts.length === 0 ? undefined : '');
      }
      expect(joined(whole, cuts)).toBe(whole);
      for (const { end, next } of cuts) {
        expect(whole.slice(end, next).trim()).toBe('');
        expect([isSplit(whole, end), isSplit(whole, next)]).toEqual([false, false]);
      }
    };
  test('are each within the limit, give back the text, and no character is cut in two', () => {
    const planted = Object.entries(faults).map(([name, cut]) => [name, property(cut)] as const);
    holds(fc.tuple(text, limit), property(cutsOf), Object.fromEntries(planted));
  });
});
