import { describe, expect, onTestFinished, test } from 'vitest';
import { SearchIndex } from '../../../../../shared/adapters/kv/memory/memory-search-index.ts';
import { termsOf } from '../../../../../shared/adapters/kv/memory/memory-words.ts';
import { limits } from '../../../../../shared/kit/limits.ts';
import { memoryOf } from '../../../../support/memories.ts';

const scope = (name: string) => ({ scope: name });
const indexOf = (...texts: string[]): SearchIndex => {
  const index = new SearchIndex();
  onTestFinished(() => index.close());
  for (const [at, text] of texts.entries()) index.set(memoryOf(at + 1, text, scope('a')));
  return index;
};
const found = (index: SearchIndex, query: string, scopes: readonly string[] | 'all' = ['a'], limit = 10): string[] =>
  index.search({ scopes, query, limit }).map(({ text }) => text);

describe('A7/82: search of the memory', () => {
  test.each<[string, string[], string, string[]]>([
    ['accents and case are the same', ['Ann likes crème brûlée', 'Bob likes tea'], 'CREME', ['Ann likes crème brûlée']],
    ['the last word may go on', ['chess', 'cheese'], 'like chee', ['cheese']],
    ['the last word may have an ending', ['water the beans', 'wax'], 'watering', ['water the beans']],
    ['a beginning of three letters is no word for it', ['wat', 'wate'], 'watering', ['wate']],
    ['the others are whole', ['a chessboard', 'chess club'], 'chess club', ['chess club']],
    [
      'any word will do, more are better',
      ['tea leaf', 'green tea', 'green grass'],
      'green tea',
      ['green tea', 'green grass', 'tea leaf'],
    ],
    ['of equally good ones the newest is first', ['tea one', 'tea two'], 'tea', ['tea two', 'tea one']],
    ['Cyrillic, Greek and numbers', ['Анна живёт в Киеве', 'φίλος 42'], 'киев', ['Анна живёт в Киеве']],
    ['Chinese, in the middle of a sentence', ['我喜欢喝绿茶', '我喜欢咖啡'], '绿茶', ['我喜欢喝绿茶']],
    ['Japanese, best of a sentence', ['寿司は苦手', '私は寿司が好きです'], '寿司が好き', ['私は寿司が好きです', '寿司は苦手']],
    ['Japanese without its beginning', ['東京タワーに行きたい'], 'タワー', ['東京タワーに行きたい']],
    ['letters in another order are another word', ['日本'], '本日', []],
    ['one letter alone', ['絵が好き', '音楽'], '絵', ['絵が好き']],
    ['two scripts in one word', ['東京tower', '京都', 'towers'], '東京tower', ['東京tower', 'towers']],
    ['Thai, and where its marks are', ['ฉันชอบภาษาไทย'], 'ภาษา', ['ฉันชอบภาษาไทย']],
    ['nothing is asked', ['tea'], ' … ', []],
  ])('%s', (_, texts, query, expected) => {
    expect(found(indexOf(...texts), query)).toEqual(expected);
  });

  test.each([
    '"',
    'tea" OR "coffee',
    'tea AND NOT coffee',
    'text:tea',
    'NEAR(tea coffee)',
    '-tea',
    '^tea*',
    '(tea',
    "tea'); drop table entry; --",
    'scope:scope1',
    '\u0000tea',
    '{a b}: tea',
    '𝔱𝔢𝔞 tea',
    `${'x '.repeat(50)}tea`,
    '\ud800 tea',
  ])('a query is words, whatever stands in it: %.40j', (query) => {
    const index = indexOf('tea', 'coffee');
    index.set(memoryOf(9, 'tea of somebody else', scope('b')));
    for (const text of found(index, query)) expect(['tea', 'coffee']).toContain(text);
    expect(found(index, 'tea')).toEqual(['tea']);
  });

  test('what is equally good has one order, in whatever order it came', () => {
    const seqs = Array.from({ length: 40 }, (_, at) => at + 1);
    const orders = [seqs, seqs.toReversed(), seqs.toSorted((one, other) => ((one * 7) % 41) - ((other * 7) % 41))];
    const found = orders.map((order) => {
      const index = indexOf();
      for (const seq of order) index.set(memoryOf(seq, 'tea', scope('a')));
      return index.search({ scopes: ['a'], query: 'tea', limit: 9 }).map(({ source }) => source.seq);
    });
    expect(found).toEqual(orders.map(() => [40, 39, 38, 37, 36, 35, 34, 33, 32]));
  });

  test('I12: nothing is found or listed outside of the scopes', () => {
    const index = indexOf('tea');
    index.set(memoryOf(2, 'tea', scope('b')));
    index.set(memoryOf(3, 'tea', scope('scope1')));
    expect(index.search({ scopes: ['a'], query: 'tea', limit: 9 }).map((entry) => entry.scope)).toEqual(['a']);
    expect(index.search({ scopes: ['scope1', 'a'], query: 'tea', limit: 9 }).map((entry) => entry.scope)).toEqual([
      'scope1',
      'a',
    ]);
    expect(index.search({ scopes: 'all', query: 'tea', limit: 9 })).toHaveLength(3);
    expect(index.search({ scopes: [], query: 'tea', limit: 9 })).toEqual([]);
    expect(index.search({ scopes: ['none'], query: 'tea', limit: 9 })).toEqual([]);
    expect(index.list({ scopes: ['a', 'a'], limit: 9 })).toHaveLength(1);
    expect(index.list({ scopes: [], limit: 9 })).toEqual([]);
  });

  test('what changes is found as it is now, what is gone is not', () => {
    const index = indexOf('tea', 'coffee');
    index.set(memoryOf(1, 'juice', scope('a')));
    expect([found(index, 'tea'), found(index, 'juice')]).toEqual([[], ['juice']]);
    index.delete('1-0');
    index.delete('1-0');
    expect([found(index, 'juice'), index.get('1-0'), index.size]).toEqual([[], undefined, 1]);
  });

  test('a list has what changed last first, from a place on', () => {
    const index = indexOf('one', 'two', 'three');
    const again = memoryOf(1, 'one again', scope('a'));
    index.set({ ...again, source: { ...again.source, seq: 9 } });
    const all = index.list({ scopes: 'all', limit: 9 });
    expect(all.map(({ text }) => text)).toEqual(['one again', 'three', 'two']);
    expect(index.list({ scopes: ['a'], limit: 1, ...(all[0] && { after: all[0] }) }).map(({ text }) => text)).toEqual(['three']);
  });

  test('the newest of very many are found in whatever order they came, and fast enough for each turn', () => {
    const index = new SearchIndex();
    const order = Array.from({ length: limits.scopeMemories }, (_, at) => 1 + ((at * 7_919) % limits.scopeMemories));
    for (const seq of order) index.set(memoryOf(seq, 'tea', scope('a')));
    const listed = (limit: number) => index.list({ scopes: ['a'], limit }).map(({ source }) => source.seq);
    const newest = Array.from({ length: limits.scopeMemories }, (_, at) => limits.scopeMemories - at);
    expect(listed(Number.POSITIVE_INFINITY)).toEqual(newest);
    for (const limit of [1, 20, 50]) expect(listed(limit)).toEqual(newest.slice(0, limit));
    const began = performance.now();
    for (let times = 0; times < 50; times++) listed(20);
    expect((performance.now() - began) / 50).toBeLessThan(8);
    index.close();
  });

  test('among very many a word that few have finds them, however common the others are', () => {
    const index = indexOf(
      'the zebra',
      ...Array.from({ length: limits.memoryCandidates + 500 }, (_, at) => `the user likes ${at}`),
    );
    expect(found(index, 'the user saw the zebra', ['a'], 1)).toEqual(['the zebra']);
    expect(found(index, 'the user', ['a'], 3)).toHaveLength(3);
  });

  test('a query is bounded', () => {
    expect(termsOf('word '.repeat(1_000)).length).toBeLessThanOrEqual(limits.memoryQueryWords);
    expect(termsOf('x'.repeat(400))[0]?.split(' OR ')).toHaveLength(7);
    expect(termsOf('a "b" c')).toEqual(['"a"', '"b"', '"c"*']);
  });
});
