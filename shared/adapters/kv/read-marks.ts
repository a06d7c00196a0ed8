import { hash } from 'node:crypto';
import type { Clock } from '../../kit/clock.ts';
import type { ReadMarks } from '../../ports/access/read-marks.ts';
import { readMarkCodec } from '../../wire/read-mark.ts';
import { bucketKey } from '../../wire/subjects.ts';
import { openBucketCopy } from './bucket-copy.ts';
import type { KeyValue } from './key-value.ts';

const part = 'read';
/** Of fixed length: a person and a session key together may be longer than a key of a bucket. */
const nameOf = (person: string, key: string): string =>
  bucketKey(part, hash('sha256', JSON.stringify([person, key]), 'base64url'));

/** Read marks in a bucket: `read.<sha256 of person and key>`. The last one written stands. */
export const createReadMarks = (bucket: KeyValue, clock: Clock): ReadMarks => ({
  put: async (mark) => {
    await bucket.put(nameOf(mark.person, mark.key), readMarkCodec.encode(mark));
  },
  watch: async () => {
    const { current, refresh, close } = await openBucketCopy(bucket, clock, {
      part,
      hinted: true,
      empty: () => new Map<string, number>(),
      take: (held, { key, value }) => {
        if (value !== null) held.set(key, seqIn(value));
      },
    });
    return { seqOf: (person, key) => current().get(nameOf(person, key)) ?? 0, refresh, close };
  },
});

/** An unreadable mark is none. */
const seqIn = (value: Uint8Array): number => {
  try {
    return readMarkCodec.decode(value).seq;
  } catch {
    return 0;
  }
};
