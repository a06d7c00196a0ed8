import { type LogWitness, nothingSeen } from '../../../domain/session/log-witness.ts';
import { NatterError } from '../../../kit/errors.ts';
import { limits } from '../../../kit/limits.ts';
import { writersWitnessCodec } from '../../../wire/records.ts';
import { bucketKey } from '../../../wire/subjects.ts';
import type { KeyValue } from '../key-value.ts';

/** The highest place of a stream that a writer was told is stored, and how often a person has accepted that the stream lost its end. */
export interface StoredWitness extends LogWitness {
  readonly accepted: number;
  /** Of a queue: a place that was given out twice, which proves that it went back. */
  readonly reused?: number | undefined;
}

/** The witness that all writers of a stream share. It outlives them, and is not in a cache: those may be deleted at any time (I13). */
export interface WritersWitness {
  /** From the leader: never stale. */
  read(): Promise<StoredWitness>;
  /** Raises it; a higher one, or one after a further acceptance, stays. */
  raise(seen: StoredWitness): Promise<void>;
  /** A place was given out twice, unless a person has accepted a further loss since. */
  reuse(seq: number, accepted: number): Promise<void>;
  /** Replaces it, also by a lower one: a person has accepted a loss. */
  accept(seen: LogWitness): Promise<void>;
}

/** The key of the witness of a queue. That of the log is `writers`. */
export const queueWitness = (queue: string): string => bucketKey('queue', queue);

export const createWritersWitness = (bucket: KeyValue, key = bucketKey('writers')): WritersWitness => {
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
    raise: (seen) =>
      change((stored) => {
        if (stored.accepted > seen.accepted || stored.seq >= seen.seq) return null;
        return stored.reused === undefined ? seen : { ...seen, reused: stored.reused };
      }),
    reuse: (reused, accepted) => change((stored) => (stored.accepted > accepted ? null : { ...stored, reused })),
    accept: (seen) => change(({ accepted }) => ({ ...seen, accepted: accepted + 1 })),
  };
};
