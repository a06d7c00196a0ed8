import { nobodyPaired } from '../../domain/routing/pairing.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { Pairings } from '../../ports/access/pairings.ts';
import { pairingCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

const part = 'channel';
/** Channels of one read; the configuration has far fewer. */
const readEntries = 1_000;

/** Pairings in a bucket: `channel.<name>`. */
export const createPairings = (bucket: KeyValue): Pairings => ({
  change: async (channel, change) => {
    const key = bucketKey(part, channel);
    for (let attempt = 0; attempt <= limits.fencedRetries; attempt++) {
      const entry = await bucket.read(key);
      const { record, result } = change(entry.value === null ? nobodyPaired(channel) : pairingCodec.decode(entry.value));
      if (record === null) return result;
      if ((await bucket.put(key, pairingCodec.encode(record), { fence: entry })) !== null) return result;
    }
    throw new NatterError('unavailable', `other writers keep changing the pairings of ${channel}`, { retryAfterMs: 1_000 });
  },
  all: async () => {
    const { entries } = await bucket.changes(part, 0, readEntries);
    return entries.flatMap(({ value }) => (value === null ? [] : [pairingCodec.decode(value)]));
  },
});
