import { describe, expect, test } from 'vitest';
import { GroupCommit, type GroupCommitOptions, ungrouped } from '../../../../shared/adapters/streams/group-commit.ts';

interface Write {
  readonly key: string;
  readonly bytes: number;
}
interface Call {
  readonly keys: readonly string[];
  readonly answer: (result: string) => void;
  readonly fail: (error: Error) => void;
}

const turnOver = () => new Promise((resolve) => setImmediate(resolve));

/** A store that answers when the test says so, and what was asked of it: `'a'`, or `'b+c'` for a group. */
const storeWith = (grouping: GroupCommitOptions<Write, string>['grouping']) => {
  const calls: Call[] = [];
  let now = 0;
  const alone: string[] = [];
  const asked = <R>(writes: readonly Write[], of: (result: string) => R): Promise<R> =>
    new Promise((resolve, reject) => {
      calls.push({ keys: writes.map(({ key }) => key), answer: (result) => resolve(of(result)), fail: reject });
    });
  const commits = new GroupCommit<Write, string>({
    clock: { monotonic: () => now },
    grouping,
    soon: setImmediate,
    one: (write) => asked([write], (result) => result),
    alone: () => alone.push(calls.at(-1)?.keys.join('+') ?? ''),
    together: (writes) =>
      asked(writes, (result) =>
        result === 'refused' || result === 'impossible' ? result : writes.map(({ key }) => `${result} ${key}`),
      ),
  });
  const results = new Map<string, Promise<string>>();
  const write = async (keys: string, bytes = 100): Promise<void> => {
    for (const key of keys) {
      const result = commits.write({ key, bytes });
      result.catch(() => {});
      results.set(key, result);
    }
    await turnOver();
  };
  /** Answers the oldest open call. */
  const answer = async (result: string): Promise<void> => {
    calls.shift()?.answer(result);
    await turnOver();
  };
  return {
    ...{ write, answer, results, calls, alone },
    resultsOf: (keys: string) => Promise.all([...keys].map(async (key) => results.get(key))),
    open: () => calls.map(({ keys }) => keys.join('+')),
    advance: (ms: number) => {
      now += ms;
    },
  };
};

describe('group commit (ADR 23)', () => {
  test('only a write that nothing else is under way with is sent by itself', async () => {
    const store = storeWith({ from: 3, singles: 2 });
    await store.write('a');
    await store.write('b');
    for (const result of ['1', '2']) await store.answer(result);
    await store.write('cd');
    for (const result of ['3', '4']) await store.answer(result);
    await store.write('efg');
    expect(store.alone).toEqual(['a', 'e+f+g']);
  });

  test('a write alone goes at once, and so do a few', async () => {
    const store = storeWith({ from: 3, singles: 2 });
    await store.write('a');
    expect(store.open()).toEqual(['a']);
    await store.write('b');
    expect(store.open()).toEqual(['a', 'b']);
    await store.answer('stored');
    expect(await store.results.get('a')).toBe('stored');
  });

  test('what waits goes together, in order, and each learns its own result', async () => {
    const store = storeWith({ from: 3, singles: 2 });
    await store.write('ab');
    await store.write('cd');
    expect(store.open()).toEqual(['a', 'b']);
    await store.write('e');
    expect(store.open()).toEqual(['a', 'b', 'c+d+e']);
    for (let calls = 0; calls < 3; calls++) await store.answer('stored');
    expect(await store.resultsOf('cde')).toEqual(['stored c', 'stored d', 'stored e']);
  });

  test('two groups are under way at most; fewer than a group wait for the store, not for company', async () => {
    const store = storeWith({ from: 2, singles: 1 });
    await store.write('ab');
    await store.write('cd');
    await store.write('efg');
    expect(store.open()).toEqual(['a+b', 'c+d']);
    await store.answer('stored');
    expect(store.open()).toEqual(['c+d', 'e+f+g']);
    await store.write('h');
    expect(store.open()).toEqual(['c+d', 'e+f+g']);
    await store.answer('stored');
    await store.answer('stored');
    expect(store.open()).toEqual(['h']);
  });

  test('a key is in a group once: another write of it would be compared with the wrong state', async () => {
    const store = storeWith({ from: 3, singles: 1 });
    await store.write('abcabd');
    expect(store.open()).toEqual(['a+b+c+d']);
    await store.answer('stored');
    expect(store.open()).toEqual(['a']);
    await store.answer('stored');
    expect(store.open()).toEqual(['b']);
  });

  test('a group has a bound in bytes and in writes', async () => {
    const large = storeWith({ from: 2, singles: 1 });
    await large.write('abc', 500_000);
    expect(large.open()).toEqual(['a+b']);
    const many = storeWith({ from: 2, singles: 1 });
    await many.write([...Array(600)].map((_, index) => String.fromCodePoint(0x4e00 + index)).join(''));
    expect(many.calls.map(({ keys }) => keys.length)).toEqual([256, 256]);
  });

  test('refused together, each is tried alone: the wrong one harms the others once', async () => {
    const store = storeWith({ from: 3, singles: 1 });
    await store.write('abc');
    await store.answer('refused');
    expect(store.open()).toEqual(['a', 'b', 'c']);
    await store.answer('stored');
    await store.answer('fenced');
    await store.answer('stored');
    expect(await store.resultsOf('abc')).toEqual(['stored', 'fenced', 'stored']);
    await store.write('def');
    expect(store.open()).toEqual(['d+e+f']);
  });

  test('a group without an answer leaves each without one, and what waited goes on', async () => {
    const store = storeWith({ from: 2, singles: 1 });
    await store.write('ab');
    await store.write('cd');
    await store.write('ef');
    store.calls.shift()?.fail(new Error('no answer in time'));
    await turnOver();
    for (const key of 'ab') await expect(store.results.get(key)).rejects.toThrow('no answer in time');
    expect(store.open()).toEqual(['c+d', 'e+f']);
  });

  test('where there are no groups, nothing waits for a minute', async () => {
    const store = storeWith({ from: 2, singles: 1 });
    await store.write('ab');
    await store.answer('impossible');
    await store.write('cd');
    expect(store.open()).toEqual(['a', 'b', 'c', 'd']);
    for (let calls = 0; calls < 4; calls++) await store.answer('stored');
    expect(await store.results.get('b')).toBe('stored');
    store.advance(60_000);
    await store.write('ef');
    expect(store.open()).toEqual(['e+f']);
  });

  test('switched off, every write goes at once', async () => {
    const store = storeWith(ungrouped);
    void store.write('abcabc');
    expect(store.open()).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });
});
