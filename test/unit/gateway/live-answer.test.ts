import { describe, expect, test } from 'vitest';
import { LiveAnswer } from '../../../services/gateway/runs/live-answer.ts';
import { visibleText } from '../../../services/gateway/runs/live-text.ts';
import { withoutSilence } from '../../../shared/domain/values/silence.ts';

/** Issue 5: what a client was told of an answer is always a beginning of what is recorded, or nothing more is told. */

interface Piece {
  readonly attempt?: number;
  readonly step?: number;
  readonly offset: number;
  readonly text: string;
}
/** Cut after every `size` characters. */
const piecesOf = (text: string, size: number, more: Partial<Piece> = {}): Piece[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => ({
    ...more,
    offset: index * size,
    text: text.slice(index * size, (index + 1) * size),
  }));

const tell = (told: LiveAnswer, pieces: readonly Piece[]): string => {
  const visible = visibleText();
  return pieces
    .map(({ attempt = 1, step = 1, offset, text }) => visible({ turn: { id: 't', attempt }, step, offset, text }))
    .map((delta) => (delta === null ? '' : told.live(delta)))
    .join('');
};

describe('one step', () => {
  test.each([
    'hello there, this is an answer',
    '  an indented one\n\n  with more lines \n',
    '<NO_REPLY>',
    'one <NO_REPLY> two',
    'something \n\n<NO_REPLY>',
    '<NO_REPLY>\n\nsomething',
    'less <NO than a marker <NO_',
    '',
  ])('%j, cut anywhere: all that is told is the recorded text', (text) => {
    for (let size = 1; size <= Math.max(1, text.length); size++) {
      const told = new LiveAnswer();
      const recorded = withoutSilence(text);
      const live = tell(told, piecesOf(text, size));
      expect(recorded.startsWith(live)).toBe(true);
      expect(live + told.step(recorded, 1) + told.end(recorded)).toBe(recorded);
      expect(told.isBroken).toBe(false);
    }
  });

  test.each(['\n\nHere you go.\n<NO_REPLY>', ' <NO_REPLY><b>', ' a <NO_REPLY> b <NO_REPLY>'])(
    '%j: white space in front that a marker behind it takes away may have been told; nothing else is other than recorded',
    (text) => {
      for (let size = 1; size <= text.length; size++) {
        const told = new LiveAnswer();
        const recorded = withoutSilence(text);
        const all = tell(told, piecesOf(text, size)) + told.step(recorded, 1) + told.end(recorded);
        expect([all.trimStart(), told.isBroken]).toEqual([recorded, false]);
        expect(told.step('next', 2) + told.end(`${recorded}\n\nnext`)).toBe('\n\nnext');
      }
    },
  );

  test('after a missing piece the rest comes with the record', () => {
    const told = new LiveAnswer();
    const live = tell(
      told,
      piecesOf('one two three', 4).filter((_, index) => index !== 1),
    );
    expect(live).toBe('one');
    expect(told.step('one two three', 1)).toBe(' two three');
  });

  test('pieces that come after the record are told no more', () => {
    const told = new LiveAnswer();
    expect(told.step('one two', 1)).toBe('one two');
    expect(tell(told, piecesOf('one two', 3))).toBe('');
  });
});

describe('an attempt that begins anew', () => {
  test('what it says again is not told twice', () => {
    const told = new LiveAnswer();
    const first = tell(told, piecesOf('one two', 2).slice(0, 3));
    const second = tell(told, piecesOf('one two three', 3, { attempt: 2 }));
    expect(first + second + told.step('one two three', 1)).toBe('one two three');
    expect(told.isBroken).toBe(false);
  });

  test('the same attempt may do so too, as another model', () => {
    const told = new LiveAnswer();
    const live = tell(told, [...piecesOf('one tw', 6), ...piecesOf('one two', 7)]);
    expect(live).toBe('one two');
  });

  test('what contradicts what was told breaks the stream, live or when it is recorded', () => {
    const live = new LiveAnswer();
    expect(tell(live, [...piecesOf('one', 3), ...piecesOf('two three', 3, { attempt: 2 })])).toBe('one');
    expect(live.isBroken).toBe(true);
    const recorded = new LiveAnswer();
    tell(recorded, piecesOf('one', 3));
    expect(recorded.step('two', 1) + recorded.end('two')).toBe('');
    expect(recorded.isBroken).toBe(true);
  });
});

test('several steps: an empty line between what they say, and a silent one says nothing', () => {
  const told = new LiveAnswer();
  const live = [
    tell(told, piecesOf('looking', 3)) + told.step('looking', 1),
    tell(told, piecesOf('<NO_REPLY>', 3, { step: 2 })) + told.step('', 2),
    tell(told, piecesOf('found it', 3, { step: 3 })) + told.step('found it', 3),
  ];
  expect(live).toEqual(['looking', '', '\n\nfound it']);
  expect(told.end('looking\n\nfound it')).toBe('');
  expect(told.isBroken).toBe(false);
});
