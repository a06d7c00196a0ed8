import { type LogWitness, nothingSeen } from '../../domain/session/log-witness.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import { writersWitnessCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

/** The highest place of the log that a writer was told is stored, and how often a person has accepted that the log lost its end. */
export type StoredWitness = LogWitness & { readonly accepted: number };

/** The witness that all writers share. It outlives them, and is not in a cache: those may be deleted at any time (I13). */
export interface WritersWitness {
  /** From the leader: never stale. */
  read(): Promise<StoredWitness>;
  /** Raises it; a higher one, or one after a further acceptance, stays. */
  raise(seen: StoredWitness): Promise<void>;
  /** Replaces it, also by a lower one: a person has accepted a loss. */
  accept(seen: LogWitness): Promise<void>;
}

const key = bucketKey('writers');

export const createWritersWitness = (bucket: KeyValue): WritersWitness => {
  const read = async (): Promise<{ stored: StoredWitness; revision: number }> => {
    const { value, revision } = await bucket.read(key);
    return { stored: value === null ? { ...nothingSeen, accepted: 0 } : writersWitnessCodec.decode(value), revision };
  };
  /** Writes what `next` makes of the record, until nobody has written in between. */
  const change = async (next: (stored: StoredWitness) => StoredWitness | null): Promise<void> => {
    for (let attempt = 0; attempt <= limits.fencedRetries; attempt++) {
      const { stored, revision } = await read();
      const changed = next(stored);
      if (changed === null) return;
      if ((await bucket.put(key, writersWitnessCodec.encode(changed), { fence: { key, revision } })) !== null) return;
    }
    throw new NatterError('unavailable', 'other writers keep changing the witness of the log', { retryAfterMs: 1_000 });
  };
  return {
    read: async () => (await read()).stored,
    raise: (seen) => change((stored) => (stored.accepted <= seen.accepted && stored.seq < seen.seq ? seen : null)),
    accept: (seen) => change(({ accepted }) => ({ ...seen, accepted: accepted + 1 })),
  };
};
