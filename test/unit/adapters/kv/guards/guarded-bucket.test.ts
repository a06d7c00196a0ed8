import { expect, test } from 'vitest';
import { InMemoryKeyValue } from '../../../../../shared/adapters/in-memory/kv-store.ts';
import { guardedBucket, guardedCache } from '../../../../../shared/adapters/kv/guards/guarded-bucket.ts';
import { QueueGuard } from '../../../../../shared/adapters/kv/guards/queue-guard.ts';
import { createWritersWitness } from '../../../../../shared/adapters/kv/guards/writers-witness.ts';
import { systemClock } from '../../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../../shared/kit/errors.ts';
import { afterwards } from '../../../../support/afterwards.ts';

/** A bucket of facts, and its guard (I13). */
const rig = () => {
  const [kept, witnesses] = [new InMemoryKeyValue({ clock: systemClock }), new InMemoryKeyValue({ clock: systemClock })];
  const end = { incarnation: 1, lastSeq: 0 };
  const now = async () => ({ ...end, lastSeq: end.lastSeq || (await kept.info()).revision });
  const guard = new QueueGuard({
    stream: 'KV_b',
    clock: systemClock,
    witness: createWritersWitness(witnesses, 'b'),
    lazy: true,
    end: now,
  });
  afterwards(() => guard.stop());
  return { end, guard, bucket: guardedBucket(kept, guard) };
};
const bytes = new Uint8Array([1]);

test('a write that another was ahead of is no loss, and each one that is stored counts', async () => {
  const { guard, bucket } = rig();
  expect(await bucket.put('a', bytes)).toBe(1);
  expect(await bucket.put('a', bytes, { fence: { key: 'a', revision: 7 } })).toBeNull();
  expect(await bucket.put('b', bytes, { fence: { key: 'b', revision: 0 } })).toBe(2);
  expect([(await bucket.read('a')).revision, (await bucket.changes('x', 0, 9)).entries, guard.problem()]).toEqual([1, [], null]);
});

test('one that went back is neither read nor written, until it has everything again', async () => {
  const { end, guard, bucket } = rig();
  for (const key of ['a', 'b', 'c']) await bucket.put(key, bytes);
  await guard.save();
  end.lastSeq = 2;
  guard.distrust();
  const all = () => [bucket.read('a'), bucket.peek('a'), bucket.changes('a', 0, 9), bucket.put('a', bytes)];
  for (const call of all())
    await expect(call).rejects.toMatchObject({ code: 'unavailable', message: /KV_b ends at 2, but had reached 3/ });
  end.lastSeq = 3;
  await Promise.all(all());
});

test('what is derived from the log is read but not written while the log has gone back', async () => {
  let doubt: string | null = null;
  const check = async (): Promise<void> => {
    if (doubt !== null) throw new NatterError('unavailable', doubt);
  };
  const cache = guardedCache(new InMemoryKeyValue({ clock: systemClock }), { check });
  await cache.put('a', bytes);
  doubt = 'the log has gone back';
  await expect(cache.put('a', null)).rejects.toThrow(doubt);
  expect((await cache.read('a')).value).toEqual(bytes);
});
