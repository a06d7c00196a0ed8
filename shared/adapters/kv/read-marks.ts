import { hash } from 'node:crypto';
import type { Clock } from '../../kit/clock.ts';
import { limits } from '../../kit/limits.ts';
import type { ReadMarks } from '../../ports/access/read-marks.ts';
import { readMarkCodec } from '../../wire/read-mark.ts';
import { bucketKey } from '../../wire/subjects.ts';
import { openBucketCopy } from './bucket-copy.ts';
import type { KeyValue } from './key-value.ts';

const part = 'read';
/** Of fixed length: a person and a session key together may be longer than a key of a bucket. */
const nameOf = (person: string, key: string): string =>
  bucketKey(part, hash('sha256', JSON.stringify([person, key]), 'base64url'));

/** Read marks in a bucket: `read.<sha256 of person and key>`, expiring after `ttlMs`. The last one written stands. */
export const createReadMarks = (bucket: KeyValue, clock: Clock, ttlMs: number = limits.unreadMs): ReadMarks => ({
  put: async ({ person, key, seq }) => {
    await bucket.put(nameOf(person, key), readMarkCodec.encode(seq), { ttlMs });
  },
  watch: async () => {
    const { current, refresh, close } = await openBucketCopy(bucket, clock, {
      part,
      hinted: true,
      empty: () => new Map<string, number>(),
      take: (held, { key, value }) => {
        const seq = value === null ? 0 : seqIn(value);
        if (seq === 0) held.delete(key);
        else held.set(key, seq);
      },
    });
    return { seqOf: (person, key) => current().get(nameOf(person, key)) ?? 0, refresh, close };
  },
});

/** An unreadable mark is none. */
const seqIn = (value: Uint8Array): number => {
  try {
    return readMarkCodec.decode(value);
  } catch {
    return 0;
  }
};
