import { limits } from '../../kit/limits.ts';
import type { Snapshots } from '../../ports/snapshots.ts';
import { decodeSnapshot, encodeSnapshot } from '../../wire/snapshot.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';
import { processSnapshotKey, type SnapshotKey } from './snapshot-key.ts';

/**
 * Snapshots in a bucket, the newest of each session. Reads may go to any replica: an older snapshot only means a longer replay
 * (I4). One that is not signed with `snapshotKey` counts as none (F12). A snapshot is never replaced by an older one: a host that was away must not bring back what has been erased meanwhile
 * (C9).
 */
export const createSnapshots = (bucket: KeyValue, snapshotKey: SnapshotKey = processSnapshotKey()): Snapshots => ({
  get: async (key) => {
    const { value } = await bucket.peek(bucketKey(key));
    return value === null ? null : decodeSnapshot(key, value, snapshotKey);
  },
  put: async (key, state) => {
    const name = bucketKey(key);
    const bytes = encodeSnapshot(key, state, snapshotKey);
    for (let attempt = 0; attempt <= limits.fencedRetries; attempt++) {
      const { revision, value } = await bucket.read(name);
      const stored = value === null ? null : decodeSnapshot(key, value, snapshotKey);
      if (stored !== null && stored.position.seq > state.position.seq) return;
      if ((await bucket.put(name, bytes, { fence: { key: name, revision } })) !== null) return;
    }
  },
});
