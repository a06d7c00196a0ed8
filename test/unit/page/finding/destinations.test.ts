import { expect, test } from 'vitest';
import { beside, fitting } from '../../../../services/page/finding/destinations.ts';

const all = [
  { words: 'released', says: 'api:dm:released' },
  { words: 'Hosts', says: 'who does which part of the work' },
  { words: 'Workshop', says: 'web:1' },
  { words: 'work', says: 'telegram:group:-1' },
  { words: 'Ann', says: 'main' },
  { words: 'mainly notes', says: 'web:2' },
  { words: 'Dead letters', says: 'what nobody could process' },
  { words: 'Deliveries', says: 'what may not have arrived' },
  { words: 'Doctor', says: 'what is wrong, and the repair' },
  { words: 'Café letters', says: 'web:cafe' },
];
const found = (typed: string, most = 10): string[] => fitting(all, typed, most).map(({ words }) => words);

test.each([
  ['nothing: all of them, in their order', '', all.map(({ words }) => words)],
  ['a beginning, before what has it within', 'd', ['Dead letters', 'Deliveries', 'Doctor', 'released', 'Hosts']],
  ['the beginning of a later word, before what has it within', 'le', ['Dead letters', 'Café letters', 'released', 'work']],
  ['words in any order', 'letters dead', ['Dead letters']],
  ['without accents, in capitals', 'CAFE', ['Café letters']],
  ['an exact name, then names, then what is said', 'work', ['work', 'Workshop', 'Hosts']],
  ['an exact key, then names', 'main', ['Ann', 'mainly notes']],
  ['what it says', 'repair', ['Doctor']],
  ['a part of a key', 'dm:rel', ['released']],
  ['what nothing has', 'zebra', []],
  ['spaces around it', '  doc ', ['Doctor']],
])('%s', (_, typed, expected) => {
  expect(found(typed)).toEqual(expected);
});

test('no more than asked for, the best of them', () => {
  expect(found('letters', 1)).toEqual(['Dead letters']);
});

test.each([
  [0, 1, 3, 1],
  [2, 1, 3, 0],
  [0, -1, 3, 2],
  [0, 1, 0, 0],
] as const)('beside %i by %i of %i is %i', (at, step, count, expected) => {
  expect(beside(at, step, count)).toBe(expected);
});
