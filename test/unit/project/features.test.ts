import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { citationsIn, citingPartsOf, dueIn, featuresIn, uncited, unresolvedIn } from '../../features/citations.ts';
import { numbers, numbersIn, sections, sectionsIn } from '../../features/features.ts';
import { testFiles } from '../../features/files.ts';

const root = new URL('../../..', import.meta.url).pathname;
const upTo = (letter: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);

describe('the numbers that may be cited', () => {
  test('part A has 175 rules, one section after the other', () => {
    expect(sections.map(({ name }) => name)).toEqual(upTo('A', 15));
    const ids = sections.flatMap(({ name, rules }) => rules.map(({ id }) => [name, id]));
    expect(ids.map(([name, id]) => id?.replace(`${name}/`, ''))).toEqual(Array.from({ length: 175 }, (_, at) => `${at + 1}`));
  });

  test('parts B, C and D, the invariants and the failure modes are numbered from 1 without a gap', () => {
    const alone = [...numbers].filter((id) => /^[BCDIF]/.test(id));
    expect(alone).toEqual([...upTo('B', 34), ...upTo('C', 19), ...upTo('D', 14), ...upTo('I', 13), ...upTo('F', 27)]);
  });

  test('a rule is its text, and what is missing of it', () => {
    const text =
      '# Rules\n\n## A1 One\n\nPlaces: x.\n\n- **A1/1** Works\n  well.\n- **A1/2** Later. *Not built yet.*\n\n## B More\n\n- **B1** Half.\n  *Partly built: no\n  rest.*\n\nThe end.\n';
    expect(sectionsIn(text)).toEqual([
      {
        name: 'A1',
        title: 'One',
        rules: [
          { id: 'A1/1', text: 'Works well.' },
          { id: 'A1/2', text: 'Later.', missing: { all: true, what: '' } },
        ],
      },
      { name: 'B', title: 'More', rules: [{ id: 'B1', text: 'Half.', missing: { all: false, what: 'no rest' } }] },
    ]);
    expect(numbersIn('## Invariants\n\n### I1 One\n\nI2 is none.\n\n### F3 Three\n')).toEqual(['I1', 'F3']);
  });

  test('what is built in part is due: it is not left out by that', () => {
    const partly = sections.flatMap(({ rules }) => rules.filter(({ missing }) => missing && !missing.all));
    expect(partly.length).toBeGreaterThan(0);
    for (const { id } of partly) expect(sections.flatMap(dueIn)).toContain(id);
  });
});

test('each section of the rules names its places, and each place is a folder', () => {
  const text = readFileSync(join(root, 'docs/spec.md'), 'utf8');
  const rows = [...text.matchAll(/^\| ([\w ]+) \| (`.*`) \|$/gm)];
  const named = [...text.matchAll(/^Places: ([^.]*)/gm)].map(([, places = '']) => places.replaceAll(/\s*\([^)]*\)/g, ''));
  expect(named).toHaveLength(sections.length + 3);
  const known = rows.map(([, place]) => place);
  expect(named.flatMap((places) => places.split(/,\s+/)).filter((place) => !known.includes(place))).toEqual([]);
  const folders = rows.flatMap(([, , paths = '']) => [...paths.matchAll(/`([^`]+)`/g)].map(([, folder = '']) => folder));
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
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

describe('what a text cites that is not there', () => {
  test.each([
    ['A4/45, 46 and A15/175, A4, B21, C9, D14, I6, I1-I5, F16', []],
    ['A4/99, and A16', ['A4/99', 'A16']],
    ['A4/58-60', ['A4/60']],
    ['(B35, C20; D15), I14-I15. F28', ['B35', 'C20', 'D15', 'I14', 'I15', 'F28']],
    ['B3–B40', ['B40']],
    ['ADR 9, ADR 99', ['ADR 99']],
    ['decides (§4, idea 2)', ['§', 'idea 2']],
    ['I18N, B2B, C256, U+2028, %C3%9C, #C99, /C99, C0, e-C99, DI99, x.F99', []],
  ])('%s', (text, unresolved) => {
    expect(unresolvedIn(text)).toEqual(unresolved);
  });
});

test('where a file cites', () => {
  const source = "// one\nconst x = 'two'; /** three */";
  expect(citingPartsOf('shared/x.ts', source)).toEqual(['// one', '/** three */']);
  expect(citingPartsOf('test/x.ts', source)).toEqual(['// one', "'two'", '/** three */']);
  const page = '# One\n\n```md\nA4/99\n```\n\nText with `A4/99` in code.\n';
  expect(citingPartsOf('x.md', page).join()).not.toContain('A4/99');
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
  const files = testFiles(root);
  expect(files.length).toBeGreaterThan(50);
  expect(citationsIn(files).wrong).toEqual([]);
});
