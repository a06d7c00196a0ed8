import { describe, expect, test } from 'vitest';
import { product, read, tests, written } from './project.ts';

/** `docs/glossary.md` says which words are not used; this holds it. An exported name means one thing in its storey. */

interface Banned {
  readonly word: string;
  readonly instead: string;
}
const rowsOf = (glossary: string): Banned[] =>
  [...(glossary.split('## Words that are not used')[1] ?? '').matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(
    ([, word = '', instead = '']) => ({ word, instead: instead.trim() }),
  );
const banned = rowsOf(read('docs/glossary.md'));

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** A word of small letters is found with a capital too, and as a part of a camel-case name; others are found as they are written. */
const patternOf = ({ word }: Banned): RegExp => {
  const [first = '', rest = ''] = [word.slice(0, 1), escaped(word.slice(1))];
  const start = /^[a-z]/.test(word)
    ? `(?:(?<![A-Za-z])[${first}${first.toUpperCase()}]|(?<=[a-z])${first.toUpperCase()})`
    : `(?<![A-Za-z])${escaped(first)}`;
  return new RegExp(`${start}${rest}${/\w$/.test(word) ? '(?![a-z])' : ''}`, 'g');
};
const wordsIn = (text: string): string[] =>
  banned.flatMap((row) => [...text.matchAll(patternOf(row))].map(([found]) => `"${found}": write ${row.instead}`));

/** History may speak as people spoke then. The glossary has to name the words. */
const exempt = /^(CHANGELOG\.md|docs\/adr\/|docs\/glossary\.md|test\/golden\/)/;

const storeyOf = (path: string): string => path.split('/').slice(0, 2).join('/');
const exported = /^export (?:async )?(?:abstract )?(?:const|function\*?|class|interface|type|enum) (\w+)/gm;
const namesOf = (path: string, text: string) =>
  [...text.matchAll(exported)].map(([, name = '']) => ({ name, storey: storeyOf(path), path }));
/** Names that two files of a storey export. */
const doubles = (texts: readonly (readonly [path: string, text: string])[]): string[] => {
  const places = new Map<string, Set<string>>();
  for (const { name, storey, path } of texts.flatMap(([path, text]) => namesOf(path, text))) {
    const id = `${storey} ${name}`;
    places.set(id, (places.get(id) ?? new Set()).add(path));
  }
  return [...places].filter(([, paths]) => paths.size > 1).map(([id, paths]) => `${id}: ${[...paths].join(', ')}`);
};
describe('words', () => {
  test('a word that the glossary rules out names its replacement', () => {
    expect(banned.length).toBeGreaterThan(20);
    expect(wordsIn('startDoor, and nudgeAll() waits')).toEqual(['"Door": write gateway', '"nudge": write Signal']);
    expect(wordsIn('doorway, outdoors, MemoryEventLogs')).toEqual([]);
    const texts = new Set([...product, ...tests, ...written].filter((path) => !exempt.test(path)));
    expect([...texts].flatMap((path) => wordsIn(read(path)).map((what) => `${path}: ${what}`))).toEqual([]);
  });

  test('an exported name is defined once in a storey', () => {
    const twice = [
      ['shared/domain/a.ts', 'export const place = 1;'],
      ['shared/domain/b/c.ts', 'export const place = 2;'],
      ['shared/wire/a.ts', 'export const place = 3;'],
    ] as const;
    expect(doubles(twice)).toEqual(['shared/domain place: shared/domain/a.ts, shared/domain/b/c.ts']);
    expect(doubles(product.map((path) => [path, read(path)]))).toEqual([]);
  });
});
