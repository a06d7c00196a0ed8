import { expect, test } from 'vitest';
import { visibleText } from '../../../services/gateway/runs/live-text.ts';
import { limits } from '../../../shared/kit/limits.ts';

const turn = { id: 't1', attempt: 1 };
/** `[offset, text]`, or `[offset, text, step]`. */
type Piece = [offset: number, text: string, step?: number];

/** What a stream shows of these pieces: `offset..end text`. */
const shown = (...pieces: Piece[]): string[] => {
  const visible = visibleText();
  return pieces.flatMap(([offset, text, step = 1]) => {
    const seen = visible({ turn, step, offset, text });
    return seen === null ? [] : [`${seen.offset}..${seen.end} ${seen.text}`];
  });
};

test.each<[string, Piece[], string[]]>([
  [
    'a text without markers is as it was',
    [
      [0, 'Hello '],
      [6, 'Ann'],
    ],
    ['0..6 Hello ', '6..9 Ann'],
  ],
  [
    'a marker is taken out, its place stays counted',
    [
      [0, 'Hi <NO_REPLY> you'],
      [17, '!'],
    ],
    ['0..17 Hi  you', '17..18 !'],
  ],
  [
    'what may become a marker is held back',
    [
      [0, 'Hi <NO_'],
      [7, 'REPLY>'],
    ],
    ['0..3 Hi '],
  ],
  [
    'and comes when it did not',
    [
      [0, 'Hi <NO_'],
      [7, 'BODY>'],
    ],
    ['0..3 Hi ', '3..12 <NO_BODY>'],
  ],
  [
    'what follows a marker begins where the last piece ended',
    [
      [0, 'Hi <NO_'],
      [7, 'REPLY> you'],
    ],
    ['0..3 Hi ', '3..17  you'],
  ],
  [
    'a reply of one marker shows nothing',
    [
      [0, '<EMPTY_'],
      [7, 'RESPONSE>'],
    ],
    [],
  ],
  [
    'who joins late joins in the right place',
    [
      [6, 'Ann <NO_REPLY>!'],
      [21, '?'],
    ],
    ['7..21 nn !', '21..22 ?'],
  ],
  [
    'who joins inside a marker sees nothing of it',
    [
      [3, 'REPLY'],
      [8, '> and more'],
    ],
    ['9..18  and more'],
  ],
  [
    'a piece that was missed shows as a gap',
    [
      [0, 'one '],
      [8, 'three'],
    ],
    ['0..4 one ', '8..13 three'],
  ],
  [
    'what was held back before a gap is not told',
    [
      [0, 'one <NO_'],
      [10, 'x'],
    ],
    ['0..4 one ', '10..11 x'],
  ],
  [
    'the next step begins anew',
    [
      [0, 'one <NO_'],
      [0, 'two', 2],
    ],
    ['0..4 one ', '0..3 two'],
  ],
])('A6/79: %s', (_, pieces, expected) => expect(shown(...pieces)).toEqual(expected));

test('A8/89: what a stream may not see yet is held back and comes whole once it may, of the same step only', () => {
  const mine = new Set<string>();
  const visible = visibleText((turnId) => mine.has(turnId));
  const see = (offset: number, text: string, step = 1) => visible({ turn, step, offset, text });
  expect(see(0, 'not seen')).toBeNull();
  expect([see(0, 'Hi <NO_', 2), see(7, 'REPLY>', 2)]).toEqual([null, null]);
  mine.add(turn.id);
  expect(see(13, ' Ann', 2)).toMatchObject({ step: 2, offset: 0, text: 'Hi  Ann', end: 17 });
  expect(see(17, '!', 2)).toMatchObject({ offset: 17, text: '!', end: 18 });
});

test('I11: what is held back is bounded; a longer text is taken up where the stream may see it', () => {
  let mine = false;
  const visible = visibleText(() => mine);
  const long = 'x'.repeat(limits.modelOutputBytes + 1);
  expect(visible({ turn, step: 1, offset: 0, text: long })).toBeNull();
  mine = true;
  expect(visible({ turn, step: 1, offset: long.length, text: 'end' })).toMatchObject({ text: 'end', end: long.length + 3 });
});
