import { NatterError } from '../../kit/errors.ts';
import type { DeadLetter, DeadLetters } from '../../ports/dead-letters.ts';
import { deadLetterCodec } from '../../wire/records.ts';
import { letterOrNull, storable } from '../streams/dead-letter.ts';
import { noFaults } from './faults.ts';
import type { InMemoryStoreOptions } from './kv-store.ts';

/** As in `topology.ts`. */
const duplicateWindowMs = 120_000;

export interface InMemoryDeadLetters extends DeadLetters {
  /** Removes the letters for which `belongs` is true, and returns their number. */
  remove(belongs: (letter: DeadLetter) => boolean): number;
}

/** Dead letters in memory. The same id within two minutes is stored once. */
export const createInMemoryDeadLetters = ({ clock, faults = noFaults }: InMemoryStoreOptions): InMemoryDeadLetters => {
  let stored: readonly Uint8Array[] = [];
  const seenAt = new Map<string, number>();
  const reach = async (call: 'append' | 'read'): Promise<void> => {
    const { fault, delayMs } = faults.next(call);
    await (delayMs > 0 ? clock.sleep(delayMs) : Promise.resolve());
    if (fault !== 'none' && fault !== 'stale') throw new NatterError('unavailable', 'the in-memory dead letters did not answer');
  };
  return {
    put: async (letter) => {
      const bytes = deadLetterCodec.encode(storable(letter));
      await reach('append');
      const id = `${letter.service}:${letter.id}`;
      if (clock.now() - (seenAt.get(id) ?? Number.NEGATIVE_INFINITY) < duplicateWindowMs) return;
      seenAt.set(id, clock.now());
      stored = [...stored, bytes];
    },
    list: async (limit) => {
      await reach('read');
      return stored
        .toReversed()
        .flatMap((bytes) => letterOrNull(bytes) ?? [])
        .slice(0, limit);
    },
    count: async () => {
      await reach('read');
      return stored.length;
    },
    remove: (belongs) => {
      const before = stored.length;
      stored = stored.filter((bytes) => {
        const letter = letterOrNull(bytes);
        return letter === null || !belongs(letter);
      });
      return before - stored.length;
    },
  };
};
