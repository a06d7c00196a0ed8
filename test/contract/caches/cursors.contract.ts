import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { encode } from '../../../shared/wire/codec.ts';
import { bucketKey } from '../../../shared/wire/subjects.ts';
import type { CacheBroker } from '../../support/caches.ts';
import { seenAt } from '../../support/domain/commits.ts';

export const cursorsContract = (broker: () => CacheBroker): void => {
  test('a cursor never put is 0', async () => {
    const { cursors } = await broker().host();
    expect(await cursors.get(randomUUID())).toEqual(seenAt(0));
  });

  test('another host reads at once what one has put, forwards and backwards', async () => {
    const [one, other, name] = [await broker().host(), await broker().host(), randomUUID()];
    for (const seq of [1, 2 ** 40, 7]) {
      await one.cursors.put(name, seenAt(seq));
      expect(await other.cursors.get(name)).toEqual(seenAt(seq));
    }
  });

  test('names are byte-exact and do not touch the position of the index', async () => {
    const { cursors, index } = await broker().host();
    const position = await index.position();
    const names = ['delivery', 'Delivery', 'a.b', 'a b', 'a=20b', 'position', '', 'ü'].map((name) => `${name}${randomUUID()}`);
    for (const [at, name] of names.entries()) await cursors.put(name, seenAt(at + 1));
    expect(await Promise.all(names.map((name) => cursors.get(name)))).toEqual(names.map((_, at) => seenAt(at + 1)));
    await vi.waitFor(async () => {
      const all = await cursors.all();
      expect(names.map((name) => all.get(name))).toEqual(names.map((_, at) => seenAt(at + 1)));
    });
    expect(await index.position()).toBe(position);
  });

  test('a cursor of an older version, which has only its sequence, can be read; its creation time of the log is no cursor', async () => {
    const [{ cursors }, name] = [await broker().host(), randomUUID()];
    const { index } = broker().buckets;
    await index.put(bucketKey('cursor', name), encode({ seq: 7 }));
    await index.put(bucketKey('cursor', `${name}-incarnation`), encode({ seq: 1_700_000_000_000 }));
    expect(await cursors.get(name)).toEqual(seenAt(7));
    // Written last, so that whoever sees it sees those two.
    await cursors.put(`${name}-newest`, seenAt(8));
    const found = async () => [...(await cursors.all()).keys()].filter((one) => one.startsWith(name));
    await vi.waitFor(async () => expect(await found()).toEqual([name, `${name}-newest`]));
  });

  test('bytes that are no cursor are an error, not a position', async () => {
    const [{ cursors }, name] = [await broker().host(), randomUUID()];
    await broker().buckets.index.put(bucketKey('cursor', name), Buffer.from('seven'));
    await expect(cursors.get(name)).rejects.toMatchObject({ code: 'invalid' });
    expect((await cursors.all()).has(name)).toBe(false);
  });
};
