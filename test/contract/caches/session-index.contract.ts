import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { IndexView } from '../../../shared/ports/session-index.ts';
import { bucketKey } from '../../../shared/wire/subjects.ts';
import type { CacheBroker, CacheHost } from '../../support/caches.ts';
import { commitTo, freshKey, recorded, seenAt, userMessage } from '../../support/domain/commits.ts';

/** A row as the projection makes it, after a commit at `seq`. */
const rowAt = (key: SessionKey, seq: number, text = `text ${seq}`): IndexRow =>
  summarize(null, recorded(commitTo(key, { events: [userMessage(text)] }), seq));

const watch = async ({ index }: CacheHost): Promise<IndexView> => {
  const view = await index.watch();
  onTestFinished(() => view.close());
  return view;
};
const keysOf = (view: IndexView): string[] => [...view.rows()].map(({ key }) => key).sort();
// A second on a machine with nothing else to do; the machine that runs the gate is busy.
const current = { timeout: 10_000, interval: 20 };

/** Every test begins with an empty index. */
export const sessionIndexContract = (broker: () => CacheBroker): void => {
  test('an empty index has no rows and stands at 0', async () => {
    const host = await broker().host();
    expect(await host.index.position()).toBe(0);
    expect(await host.index.get(freshKey())).toBeNull();
    expect(keysOf(await watch(host))).toEqual([]);
  });

  test('A11: another host reads rows and position at once', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    const rows = Array.from({ length: 100 }, (_, at) => rowAt(freshKey(), at + 1));
    await one.index.put(rows, 100);
    for (const row of rows) expect(await other.index.get(row.key)).toEqual(row);
    expect(await other.index.position()).toBe(100);
  });

  test('a position without rows is kept too', async () => {
    const { index } = await broker().host();
    await index.put([], 5);
    await index.put([], 9);
    expect(await index.position()).toBe(9);
  });

  test('a row never goes back to an older seq, whoever writes it', async () => {
    const [ahead, behind, key] = [await broker().host(), await broker().host(), freshKey()];
    await behind.index.put([rowAt(key, 1)], 1);
    await ahead.index.put([rowAt(key, 9)], 9);
    await behind.index.put([rowAt(key, 5)], 5);
    expect((await ahead.index.get(key))?.seq).toBe(9);
    await behind.index.put([rowAt(key, 10)], 10);
    expect((await ahead.index.get(key))?.seq).toBe(10);
  });

  test('two writers at once leave the newest of each row', async () => {
    const writers = [await broker().host(), await broker().host()];
    const keys = Array.from({ length: 20 }, () => freshKey());
    const rounds = Array.from({ length: 10 }, (_, at) => at + 1);
    await Promise.all(
      writers.map(async ({ index }, odd) => {
        for (const round of rounds) {
          const seq = 2 * round + odd;
          const rows = keys.map((key) => rowAt(key, seq));
          // Whom the other one overtakes too often is told to try again.
          await vi.waitFor(() => index.put(rows, seq));
        }
      }),
    );
    const newest = 2 * rounds.length + 1;
    for (const key of keys) expect((await writers[0]!.index.get(key))?.seq).toBe(newest);
  });

  test('bytes that are no row count as none and are written over', async () => {
    const [host, key] = [await broker().host(), freshKey()];
    await broker().buckets.index.put(bucketKey('session', key), Buffer.from('a row'));
    expect(await host.index.get(key)).toBeNull();
    const view = await watch(host);
    await host.index.put([rowAt(key, 3)], 3);
    expect((await host.index.get(key))?.seq).toBe(3);
    await vi.waitFor(() => expect(view.get(key)?.seq).toBe(3), current);
  });

  test('a view has all rows when it opens, more than one read of them', async () => {
    const host = await broker().host();
    const rows = Array.from({ length: 2_500 }, (_, at) => rowAt(freshKey(), at + 1));
    await host.index.put(rows, rows.length);
    // On a cluster a replica may lag when the view opens; it has all within a second either way.
    const view = await watch(await broker().host());
    await vi.waitFor(() => expect(keysOf(view)).toEqual(rows.map(({ key }) => key).sort()), current);
  });

  test('a view is current within a second, on any host, and shows neither cursors nor the position as rows', async () => {
    const [writer, reader] = [await broker().host(), await broker().host()];
    const [key, view] = [freshKey(), await watch(reader)];
    await writer.cursors.put(randomUUID(), seenAt(77));
    for (const seq of [1, 2, 3]) {
      await writer.index.put([rowAt(key, seq)], seq);
      await vi.waitFor(() => expect(view.get(key)).toEqual(rowAt(key, seq)), current);
    }
    expect(keysOf(view)).toEqual([key]);
  });

  test('a view shows the commits that are folded into it at once, and the index never takes one back', async () => {
    const [host, key, late] = [await broker().host(), freshKey(), freshKey()];
    const view = await watch(host);
    const commit = (rev: number, seq: number, of = key) =>
      recorded(commitTo(of, { rev, events: [userMessage(`text ${seq}`)] }), seq);
    const [first, second, third] = [commit(1, 1), commit(2, 3), commit(3, 5)];
    view.take(first);
    view.take(second);
    const folded = summarize(summarize(null, first), second);
    expect(view.get(key)).toEqual(folded);
    // What came before it is not known: the index brings its row.
    view.take(commit(2, 4, late));
    expect(view.get(late)).toBeUndefined();
    await host.index.put([rowAt(key, 1), rowAt(late, 2)], 2);
    await vi.waitFor(() => expect(view.get(late)).toEqual(rowAt(late, 2)), current);
    expect(view.get(key)).toEqual(folded);
    view.take(commit(2, 4, late));
    view.take(second);
    view.take(third);
    expect([view.get(late)?.seq, view.get(key)]).toEqual([4, summarize(folded, third)]);
    await host.index.put([rowAt(key, 9)], 9);
    await vi.waitFor(() => expect(view.get(key)).toEqual(rowAt(key, 9)), current);
  });

  test('a closed view does not change any more', async () => {
    const [host, key] = [await broker().host(), freshKey()];
    const [closed, open] = [await host.index.watch(), await watch(host)];
    await closed.close();
    await host.index.put([rowAt(key, 1)], 1);
    await vi.waitFor(() => expect(open.get(key)?.seq).toBe(1), current);
    expect(closed.get(key)).toBeUndefined();
  });

  test('after the bucket was created anew the view is empty, the position 0, and a writer that went on is told', async () => {
    const [writer, reader] = [await broker().host(), await broker().host()];
    const [old, key] = [freshKey(), freshKey()];
    await writer.index.put([rowAt(old, 1)], 1);
    await writer.index.put([rowAt(key, 2)], 2);
    const view = await watch(reader);
    await vi.waitFor(() => expect(keysOf(view)).toHaveLength(2), current);
    await broker().emptyIndex();
    await vi.waitFor(() => expect(keysOf(view)).toEqual([]));
    await expect(writer.index.put([rowAt(key, 3)], 3)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await writer.index.position()).toBe(0);
    // From the beginning again: rows with sequences that this writer has written before.
    await writer.index.put([rowAt(old, 1), rowAt(key, 3)], 3);
    await vi.waitFor(() => expect(keysOf(view)).toEqual([old, key].sort()), current);
    expect(await reader.index.position()).toBe(3);
  });
};
