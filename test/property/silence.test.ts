import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleText } from '../../services/gateway/runs/live-text.ts';
import { silenceFilter, withoutSilence } from '../../shared/domain/values/silence.ts';
import { holds } from '../support/domain/arbitraries.ts';

const markers = ['<NO_REPLY>', '<EMPTY_RESPONSE>'];
/** Texts full of markers, of what looks like one, and of markers inside of markers. */
const piece = fc.oneof(
  fc.constantFrom(...markers),
  fc.constantFrom(
    '<',
    '>',
    '<NO_',
    'REPLY>',
    '<EMPTY',
    '_RESPONSE>',
    'NO_REPLY',
    '<no_reply>',
    ' ',
    'word',
    '👋',
    'A',
    '<NO_REPLY',
  ),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
/** A text and where it is cut into chunks. */
const chunked = fc.tuple(text, fc.array(fc.nat(1_000), { maxLength: 12 })).map(([whole, at]) => {
  const cuts = [0, ...at.map((cut) => cut % (whole.length + 1)).sort((one, other) => one - other), whole.length];
  return cuts.slice(1).map((cut, index) => whole.slice(cuts[index], cut));
});

type Filter = typeof silenceFilter;
const seenBy = (filter: Filter, chunks: readonly string[]): string[] => {
  const { push, end } = filter();
  return [...chunks.map(push), end()];
};
/** The filter as one would write it first: each chunk by itself. */
const chunkwise: Filter = () => ({
  push: (text) => markers.reduce((rest, marker) => rest.replaceAll(marker, ''), text),
  end: () => '',
  held: () => 0,
});
/** The markers are gone from the whole, those that come about by taking out others too. */
const stripped = (text: string): string => {
  const rest = markers.reduce((rest, marker) => rest.replaceAll(marker, ''), text);
  return rest === text ? text : stripped(rest);
};
const beginnings = markers.flatMap((marker) => [...marker].slice(1).map((_, length) => marker.slice(0, length + 1)));

test('A6/79: however a reply is cut, what is seen of it is the reply without markers', () => {
  const property = (filter: Filter) => (chunks: string[]) => {
    expect(seenBy(filter, chunks).join('')).toBe(stripped(chunks.join('')));
  };
  holds(chunked, property(silenceFilter), { 'chunk by chunk': property(chunkwise) }, 2_000);
});

test('A6/79: at no time is anything of a marker seen, and what is held back may be the beginning of one', () => {
  const property = (filter: Filter) => (chunks: string[]) => {
    const { push, held } = filter();
    let seen = '';
    let given = '';
    for (const chunk of chunks) {
      seen += push(chunk);
      given += chunk;
      expect(stripped(given).startsWith(seen)).toBe(true);
      const open = given.slice(given.length - held());
      expect(open === '' || open.startsWith('<')).toBe(true);
      expect(seen + stripped(open)).toBe(stripped(given));
      // What is seen does not end in what may become a marker.
      expect(beginnings.some((beginning) => seen.endsWith(beginning))).toBe(false);
    }
  };
  const greedy: Filter = () => ({ ...silenceFilter(), push: (text) => text });
  const timid: Filter = () => ({ push: () => '', end: () => '', held: () => 0 });
  holds(
    chunked,
    property(silenceFilter),
    { 'all comes through': property(greedy), 'nothing comes through': property(timid) },
    1_000,
  );
});

test('A6/78: a reply of nothing but markers is empty, and one without any is not touched', () => {
  holds(
    text,
    (reply) => {
      const shown = withoutSilence(reply);
      expect(markers.some((marker) => shown.includes(marker))).toBe(false);
      if (!markers.some((marker) => reply.includes(marker))) expect(shown).toBe(reply);
      expect(shown === '').toBe(stripped(reply).trim() === '' && (reply === '' || stripped(reply) !== reply));
    },
    {},
  );
});

/** A live text whose reader joins at one chunk and misses others. */
const joined = fc.tuple(chunked, fc.array(fc.boolean(), { maxLength: 13 }));

test('A6/79: a reader who joins late or misses pieces sees no fragment of a marker, and every piece in its place', () => {
  const property =
    (make: typeof visibleText) =>
    ([chunks, missed]: [string[], boolean[]]) => {
      const whole = chunks.join('');
      const visible = make();
      let offset = 0;
      let end = 0;
      for (const [index, chunk] of chunks.entries()) {
        const seen = missed[index] ? null : visible({ turn: { id: 't', attempt: 1 }, step: 1, offset, text: chunk });
        offset += chunk.length;
        if (seen === null) continue;
        // Its range of the text as the model writes it, without the markers, and no marker across its borders.
        expect(seen.offset).toBeGreaterThanOrEqual(end);
        expect(seen.end).toBeLessThanOrEqual(offset);
        expect(seen.text).toBe(stripped(whole.slice(seen.offset, seen.end)));
        const around = [whole.slice(0, seen.offset), whole.slice(seen.offset, seen.end), whole.slice(seen.end)];
        expect(stripped(whole)).toBe(around.map(stripped).join(''));
        end = seen.end;
      }
    };
  /** Without the rule for those who join late. */
  const trusting: typeof visibleText = () => {
    const filter = silenceFilter();
    return (delta) => {
      const end = delta.offset + delta.text.length;
      const text = filter.push(delta.text);
      return text === '' ? null : { ...delta, text, end: end - filter.held() };
    };
  };
  holds(joined, property(visibleText), { 'joins anywhere': property(trusting) }, 1_000);
});
