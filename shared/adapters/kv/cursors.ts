import type { Cursors } from '../../ports/cursors.ts';
import { positionCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

/** Cursors in the bucket of the session index, under `cursor.<name>`. A lost or unreadable cursor counts as 0. */
export const createCursors = (bucket: KeyValue): Cursors => ({
  get: async (name) => {
    const { value } = await bucket.read(bucketKey('cursor', name));
    return value === null ? 0 : positionCodec.decode(value).seq;
  },
  put: async (name, seq) => {
    await bucket.put(bucketKey('cursor', name), positionCodec.encode({ seq }));
  },
});
