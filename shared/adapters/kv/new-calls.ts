import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { NewCalls } from '../../ports/access/new-calls.ts';
import { newCallCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

/** Calls in a bucket: `call.<fingerprint>`. What a first attempt notes is stored before its message is, so a retry never misses it. */
export const createNewCalls = (bucket: KeyValue): NewCalls => ({
  keyOf: async ({ fingerprint, attempt }, fresh) => {
    const name = bucketKey('call', fingerprint);
    const value = newCallCodec.encode({ key: fresh, attempt });
    for (let tries = 0; tries <= limits.fencedRetries; tries++) {
      // Most calls are no repeats, and need no look.
      const entry = attempt === 0 && tries === 0 ? { key: name, revision: 0, value: null } : await bucket.read(name);
      const known = entry.value === null ? null : newCallCodec.decode(entry.value);
      if (known !== null && (attempt > 0 || known.attempt > 0)) return known.key;
      if ((await bucket.put(name, value, { fence: entry, ttlMs: limits.askedCallMs })) !== null) return fresh;
    }
    throw new NatterError('unavailable', 'the same call is made too often at once', { retryAfterMs: 1_000 });
  },
});
