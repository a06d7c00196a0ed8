import type { Cursors } from '../../ports/cursors.ts';
import { positionCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

/** Named positions, kept beside the session index under `cursor.<name>`. One that is lost or unreadable counts from the beginning. */
export const createCursors = (bucket: KeyValue): Cursors => ({
  get: async (name) => {
    const { value } = await bucket.read(bucketKey('cursor', name));
    return value === null ? 0 : positionCodec.decode(value).seq;
  },
  put: async (name, seq) => {
    await bucket.put(bucketKey('cursor', name), positionCodec.encode({ seq }));
  },
});
