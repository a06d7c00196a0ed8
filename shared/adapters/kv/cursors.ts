import { type LogWitness, nothingSeen } from '../../domain/session/log-witness.ts';
import { hasCode } from '../../kit/errors.ts';
import type { Cursors } from '../../ports/cursors.ts';
import { witnessCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { Entry, KeyValue } from './key-value.ts';

const part = 'cursor';
/** Readers whose cursors are listed. */
const mostReaders = 1_000;

/** Cursors in the bucket of the session index, under `cursor.<name>`. A lost cursor counts as 0. */
export const createCursors = (bucket: KeyValue): Cursors => ({
  get: async (name) => {
    const { value } = await bucket.read(bucketKey(part, name));
    return value === null ? nothingSeen : witnessCodec.decode(value);
  },
  put: async (name, seen) => {
    await bucket.put(bucketKey(part, name), witnessCodec.encode(seen));
  },
  all: async () => {
    const { entries } = await bucket.changes(part, 0, mostReaders);
    return new Map(entries.flatMap(readable));
  },
});

/** The name and the cursor of an entry. Its own reader reports one that is unreadable. */
const readable = ({ key, value }: Entry): [string, LogWitness][] => {
  const name = decodeURIComponent(
    key
      .slice(part.length + 1)
      .replace(/^=$/, '')
      .replaceAll('=', '%'),
  );
  // Older versions kept the creation time of the log under such a name.
  if (value === null || name.endsWith('-incarnation')) return [];
  try {
    return [[name, witnessCodec.decode(value)]];
  } catch (error) {
    if (hasCode(error, 'invalid')) return [];
    throw error;
  }
};
