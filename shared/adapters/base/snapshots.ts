import type { Snapshots } from '../../ports.ts';
import { decodeSnapshot, encodeSnapshot } from '../../wire/snapshot.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

/** Snapshots in a bucket, the newest of each session. Any replica may answer: an older snapshot only means a longer replay (I4). */
export const createSnapshots = (bucket: KeyValue): Snapshots => ({
  get: async (key) => {
    const { value } = await bucket.peek(bucketKey(key));
    return value === null ? null : decodeSnapshot(key, value);
  },
  put: async (key, state) => {
    await bucket.put(bucketKey(key), encodeSnapshot(key, state));
  },
});
