import { NatterError } from '../../kit/errors.ts';
import type { DeadLetter, DeadLetters } from '../../ports/dead-letters.ts';
import { deadLetterCodec } from '../../wire/records.ts';
import { deadBounds } from '../../wire/topology.ts';
import { letterOrNull, listedOrNull, sourceOf, storable } from '../streams/dead-letter.ts';
import { noFaults } from './faults.ts';
import type { InMemoryStoreOptions } from './kv-store.ts';

/** As in `topology.ts`. */
const duplicateWindowMs = 120_000;

interface InMemoryDeadLettersOptions extends InMemoryStoreOptions {
  /** Default `natter`. */
  readonly prefix?: string;
  /** Default: those of the stream. */
  readonly bounds?: { readonly maxBytes: number; readonly maxMessagesPerSubject: number };
}
export interface InMemoryDeadLetters extends DeadLetters {
  /** Removes the letters for which `belongs` is true, and returns their number. */
  erase(belongs: (letter: DeadLetter) => boolean): number;
}
interface Stored {
  readonly seq: number;
  readonly source: string;
  readonly bytes: Uint8Array;
}

/** Dead letters in memory, with the bounds of the stream except for age. The same id within two minutes is stored once. */
export const createInMemoryDeadLetters = (options: InMemoryDeadLettersOptions): InMemoryDeadLetters => {
  const { clock, faults = noFaults, prefix = 'natter', bounds = deadBounds } = options;
  let stored: readonly Stored[] = [];
  let lastSeq = 0;
  const seenAt = new Map<string, number>();
  const reach = async (call: 'append' | 'read'): Promise<void> => {
    const { fault, delayMs } = faults.next(call);
    await (delayMs > 0 ? clock.sleep(delayMs) : Promise.resolve());
    if (fault !== 'none' && fault !== 'stale') throw new NatterError('unavailable', 'the in-memory dead letters did not answer');
  };
  /** Drops the oldest beyond the bounds, first of the newest letter's source. */
  const dropOldest = (): void => {
    const sameSource = stored.filter(({ source }) => source === stored.at(-1)?.source);
    const surplus = new Set(sameSource.slice(0, -bounds.maxMessagesPerSubject));
    stored = stored.filter((letter) => !surplus.has(letter));
    while (stored.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) > bounds.maxBytes) stored = stored.slice(1);
  };
  return {
    put: async (letter) => {
      const kept = storable(letter);
      const bytes = deadLetterCodec.encode(kept);
      await reach('append');
      const id = `${letter.service}:${letter.id}`;
      if (clock.now() - (seenAt.get(id) ?? Number.NEGATIVE_INFINITY) < duplicateWindowMs) return;
      seenAt.set(id, clock.now());
      lastSeq += 1;
      stored = [...stored, { seq: lastSeq, source: `${letter.service}~${sourceOf(kept, prefix)}`, bytes }];
      dropOldest();
    },
    list: async (limit, before = Number.POSITIVE_INFINITY) => {
      await reach('read');
      return stored
        .filter(({ seq }) => seq < before)
        .toReversed()
        .flatMap(({ seq, bytes }) => listedOrNull(seq, bytes) ?? [])
        .slice(0, limit);
    },
    get: async (seq) => {
      await reach('read');
      const found = stored.find((each) => each.seq === seq);
      const letter = found === undefined ? null : letterOrNull(found.bytes);
      return letter && { ...letter, seq };
    },
    remove: async (seq) => {
      await reach('append');
      const before = stored.length;
      stored = stored.filter((each) => each.seq !== seq);
      return stored.length < before;
    },
    count: async (service) => {
      await reach('read');
      return stored.filter(({ source }) => service === undefined || source.startsWith(`${service}~`)).length;
    },
    erase: (belongs) => {
      const before = stored.length;
      stored = stored.filter(({ bytes }) => {
        const letter = letterOrNull(bytes);
        return letter === null || !belongs(letter);
      });
      return before - stored.length;
    },
  };
};
