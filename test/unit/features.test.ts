import { describe, expect, test } from 'vitest';
import { citationsIn, dueIn, featuresIn, idsOf, uncited } from '../features/citations.ts';
import { sections } from '../features/features.ts';
import { testFiles } from '../features/files.ts';

describe('the list of features', () => {
  test('has 175, one section after the other', () => {
    let next = 1;
    for (const { first, features } of sections) {
      expect(first).toBe(next);
      next += features.length;
    }
    expect(next - 1).toBe(175);
    expect(idsOf(sections[3]!)).toEqual(Array.from({ length: 17 }, (_, index) => `A4/${43 + index}`));
  });
});

test('what is true in part is a feature of its section, and due: it is not left out by that', () => {
  for (const section of sections)
    for (const number of Object.keys(section.partly ?? {})) expect(dueIn(section)).toContain(`${section.name}/${number}`);
  expect(sections.flatMap(({ partly }) => Object.keys(partly ?? {})).length).toBeGreaterThan(0);
});

describe('what a text cites', () => {
  test.each([
    ['A4/45: stale once the boundary has passed', ['A4/45']],
    ['(A4/45, 46)', ['A4/45', 'A4/46']],
    ['A10/101-103', ['A10/101', 'A10/102', 'A10/103']],
    ['A10/101–102, 105', ['A10/101', 'A10/102', 'A10/105']],
    ['A4/53, A5/60-61, 70, A11/125', ['A4/53', 'A5/60', 'A5/61', 'A5/70', 'A11/125']],
    ['A14/140 and A8', ['A14/140']],
    ['in A4/45, and then 7 more', ['A4/45']],
    ['a path such as /srv/A4/45/x, or DATA4/45', []],
    ['A4/60-45', ['A4/60']],
  ])('%s', (text, features) => {
    expect(featuresIn(text)).toEqual(features);
  });
});

describe('what counts as a citation', () => {
  const inFile = (text: string) => [...citationsIn([['test/x.test.ts', text]]).found.keys()];
  test.each([
    ['a title', "test('A4/45: stale', () => {});", ['A4/45']],
    ['a group of tests', 'describe("messages (A5/68)", () => {});', ['A5/68']],
    ['a row of a table', "const cases = [\n  ['A4/45: stale', 1],\n  [`A4/46: idle`, 2],\n];", ['A4/45', 'A4/46']],
    ['not a comment', "// A4/45\n/* A4/46\n A4/47 */ /** A4/48 */\ntest('x', () => {}); // 'A4/49'", []],
    ['not a test that is left out', "test.skip('A4/45', f);\ntest.todo('A4/46');\ndescribe.skip(\n  'A4/47', f);", []],
    ['not a feature of another section', "test('A4/99: x', f);", []],
    [
      'a string with quotes and slashes',
      `test('it\\'s // no comment, A4/45', f); test("http://x A4/46", f);`,
      ['A4/45', 'A4/46'],
    ],
  ])('%s', (_, text, features) => {
    expect(inFile(text)).toEqual(features);
  });

  test('place and title are told, and what is wrong', () => {
    const { found, wrong } = citationsIn([['test/x.test.ts', "\ntest('A4/45, 99: stale', f);"]]);
    expect(found.get('A4/45')).toEqual([{ file: 'test/x.test.ts', line: 2, title: 'A4/45, 99: stale' }]);
    expect(wrong).toEqual(['test/x.test.ts:2: A4/99']);
  });

  test('without any test all are missing but those for later', () => {
    const missing = uncited(citationsIn([]));
    expect(missing).toContain('A4/45');
    expect(missing).not.toContain('A15/175');
    expect(missing).toHaveLength(7 + 12 + 23 + 17 + 12 + 8 + 7 + 4 + 9 + 23 + 5 + 4 + 8 + 2 + 33);
  });
});

test('the tests of this project cite nothing that is not there', () => {
  const files = testFiles(new URL('../..', import.meta.url).pathname);
  expect(files.length).toBeGreaterThan(50);
  expect(citationsIn(files).wrong).toEqual([]);
});
