import { expect, onTestFinished, test, vi } from 'vitest';
import type { MemoryView } from '../../../shared/ports/memory-store.ts';
import type { CacheBroker, CacheHost } from '../../support/caches.ts';
import { memoryOf } from '../../support/memories.ts';

/** Sequences that no other test of the same broker uses. */
let next = 0;
const freshSeq = (): number => {
  next += 100;
  return next;
};

export const memoryStoreContract = (broker: () => CacheBroker): void => {
  const watched = async ({ memory }: CacheHost): Promise<MemoryView> => {
    const view = await memory.watch();
    onTestFinished(() => view.close());
    return view;
  };

  test('A7/82: what is written is there for every host, and can be found by its words', async () => {
    const [one, other, seq] = [await broker().host(), await broker().host(), freshSeq()];
    const view = await watched(other);
    const entry = memoryOf(seq, `Ann likes crème brûlée ${seq}`);
    await one.memory.position();
    await one.memory.put({ entries: [entry], gone: [] }, seq);
    expect(await other.memory.get(entry.id)).toEqual(entry);
    expect(await other.memory.position()).toBe(seq);
    await vi.waitFor(() => expect(view.position()).toBe(seq));
    expect(view.get(entry.id)).toEqual(entry);
    expect(view.search({ scopes: [entry.scope], query: `creme ${seq}`, limit: 1 })).toEqual([entry]);
    expect((await watched(other)).get(entry.id)).toEqual(entry);
  });

  test('an entry never goes back to an older change, and what is gone never comes back', async () => {
    const [{ memory }, seq] = [await broker().host(), freshSeq()];
    const view = await watched(await broker().host());
    await memory.position();
    const old = memoryOf(seq, 'old');
    const place = { key: old.source.key, seq: seq + 1 };
    const changed = { ...old, text: 'new', source: { ...old.source, ...place }, changes: [...old.changes, place] };
    await memory.put({ entries: [old], gone: [] }, seq);
    await memory.put({ entries: [changed], gone: [] }, seq + 1);
    await memory.put({ entries: [old], gone: [] }, seq + 2);
    expect((await memory.get(old.id))?.text).toBe('new');
    await memory.put({ entries: [], gone: [old.id] }, seq + 3);
    const stored = await broker().buckets.memory.read(`memory.entry.${old.id}`);
    await memory.put({ entries: [{ ...changed, source: { ...place, ...changed.source, seq: seq + 4 } }], gone: [] }, seq + 4);
    expect(await memory.get(old.id)).toBeNull();
    // Its text is not written again either: it may have been erased.
    expect(await broker().buckets.memory.read(`memory.entry.${old.id}`)).toEqual(stored);
    await vi.waitFor(() => expect(view.position()).toBe(seq + 4));
    expect(view.get(old.id)).toBeUndefined();
    expect((await watched(await broker().host())).get(old.id)).toBeUndefined();
  });

  test('of two that write one begins anew, and so does whoever writes when the log is to be read again', async () => {
    const [{ memory: one }, { memory: other }, seq] = [await broker().host(), await broker().host(), freshSeq()];
    await Promise.all([one.position(), other.position()]);
    await one.put({ entries: [], gone: [] }, seq);
    await expect(other.put({ entries: [memoryOf(seq + 1, 'x')], gone: [] }, seq + 1)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await other.position()).toBe(seq);
    await other.put({ entries: [], gone: [] }, seq + 1);
    await one.reset();
    await expect(other.put({ entries: [], gone: [] }, seq + 2)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await other.position()).toBe(0);
    expect((await other.get(`${seq + 1}-0`))?.text).toBe('x');
  });

  test('what cannot be read is as good as not there, and is written anew', async () => {
    const [{ memory }, seq] = [await broker().host(), freshSeq()];
    const entry = memoryOf(seq, 'readable');
    await broker().buckets.memory.put(`memory.entry.${entry.id}`, Buffer.from('?'));
    expect(await memory.get(entry.id)).toBeNull();
    expect((await watched(await broker().host())).get(entry.id)).toBeUndefined();
    await memory.position();
    await memory.put({ entries: [entry], gone: [] }, seq);
    expect(await memory.get(entry.id)).toEqual(entry);
  });
};
