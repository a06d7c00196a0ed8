import { expect, test, vi } from 'vitest';
import { processSnapshotKey, SnapshotKey } from '../../../shared/adapters/kv/snapshot-key.ts';
import { fromPlain, type PlainState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { decode, encode } from '../../../shared/wire/codec.ts';
import { encodeSnapshot } from '../../../shared/wire/snapshot.ts';
import { bucketKey } from '../../../shared/wire/subjects.ts';
import type { CacheBroker } from '../../support/caches.ts';
import { freshKey } from '../../support/domain/commits.ts';
import { stateAfter } from '../../support/domain/given.ts';

const ours = processSnapshotKey();

const stories: Record<string, string[]> = {
  idle: ['open', 'append m1'],
  running: ['post m1', 'continue m1/1 1'],
  'running with a queue': ['post m1', 'post m2', 'post m3'],
  'awaiting approval': ['post m1', 'ask m1/1 a1'],
  'another generation': ['post m1', 'reset s2', 'post m2'],
  inactive: ['open', 'deactivate'],
};
const plainAfter = (...story: string[]): PlainState => toPlain(stateAfter(...story));
const some = plainAfter('post m1', 'post m2');

/** A frame as `encodeSnapshot` makes it, with one thing changed. */
const forged = (key: string, change: (frame: Record<string, unknown>) => object): Uint8Array =>
  encode(change(decode(encodeSnapshot(key as never, some, ours)) as Record<string, unknown>));

/** Every reason to doubt a stored snapshot. */
const doubts: Record<string, (key: string) => Uint8Array> = {
  'of another schema': (key) => forged(key, (frame) => ({ ...frame, schema: 0 })),
  'without a signature': (key) => forged(key, (frame) => ({ ...frame, signature: new Uint8Array(64) })),
  'that somebody else has signed': (key) => encodeSnapshot(key as never, some, SnapshotKey.from(SnapshotKey.newPem())),
  'with one bit of its state flipped': (key) =>
    forged(key, (frame) => ({ ...frame, state: (frame.state as Uint8Array).map((byte, at) => (at === 40 ? byte ^ 1 : byte)) })),
  'of another key': () => encodeSnapshot(freshKey(), some, ours),
  'in a state the machine does not have': (key) => encodeSnapshot(key as never, { ...some, status: 'asleep' as never }, ours),
  'with a context of another shape': (key) =>
    encodeSnapshot(key as never, { ...some, context: { ...some.context, mood: 'good' } as never }, ours),
  'cut off': (key) => encodeSnapshot(key as never, some, ours).subarray(0, -9),
  'that is not MessagePack': () => Buffer.from('{"schema":1}'),
};

export const snapshotsContract = (broker: () => CacheBroker): void => {
  test('has nothing for a key without a snapshot', async () => {
    const { snapshots } = await broker().host();
    expect(await snapshots.get(freshKey())).toBeNull();
  });

  test.each(Object.entries(stories))('I4: gives another host the state it was given: %s', async (_, story) => {
    const [writer, reader, key] = [await broker().host(), await broker().host(), freshKey()];
    const state = plainAfter(...story);
    await writer.snapshots.put(key, state);
    await vi.waitFor(async () => expect(await reader.snapshots.get(key)).toEqual(state));
    const read = await reader.snapshots.get(key);
    expect(toPlain(fromPlain(read ?? some))).toEqual(state);
  });

  test('keeps the newest', async () => {
    const [{ snapshots }, key] = [await broker().host(), freshKey()];
    await snapshots.put(key, plainAfter('open'));
    await snapshots.put(key, some);
    await vi.waitFor(async () => expect(await snapshots.get(key)).toEqual(some));
  });

  test('keeps keys apart that differ in a byte or in letters no bucket allows', async () => {
    const { snapshots } = await broker().host();
    const base = freshKey();
    const keys = ['a.b', 'a:b', 'a=2Eb', 'A.b', 'a/b', 'ä', 'a\u0308', '$', '日本'].map((tail) => freshKey(`${base}:${tail}`));
    for (const [index, key] of keys.entries()) await snapshots.put(key, { ...some, position: { ...some.position, rev: index } });
    for (const [index, key] of keys.entries())
      await vi.waitFor(async () => expect((await snapshots.get(key))?.position.rev).toBe(index));
  });

  test.each(Object.entries(doubts))('I4: a snapshot %s counts as none', async (_, bytesFor) => {
    const [{ snapshots }, key] = [await broker().host(), freshKey()];
    await snapshots.put(key, some);
    await vi.waitFor(async () => expect(await snapshots.get(key)).toEqual(some));
    await broker().buckets.snapshots.put(bucketKey(key), bytesFor(key));
    await vi.waitFor(async () => expect(await snapshots.get(key)).toBeNull());
    await snapshots.put(key, some);
    await vi.waitFor(async () => expect(await snapshots.get(key)).toEqual(some));
  });

  test('takes the largest state there can be: a full queue with long targets', async () => {
    const [{ snapshots }, key] = [await broker().host(), freshKey()];
    const deliverTo = { channel: 'c'.repeat(64), to: '界'.repeat(512), accountId: 'a'.repeat(128), threadId: 't'.repeat(128) };
    const queue = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`.repeat(40), messageId: `${index}`, deliverTo }));
    const state = { ...some, context: { ...some.context, queue } };
    await snapshots.put(key, state);
    await vi.waitFor(async () => expect(await snapshots.get(key)).toEqual(state));
  });
};
