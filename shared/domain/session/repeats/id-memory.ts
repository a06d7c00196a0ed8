import { hash } from 'node:crypto';
import { limits } from '../../../kit/limits.ts';

/**
 * The ids that a session has seen before its last `limits.recentIds`, as digests: 11 bytes each, in memory and in the snapshot (ADR 20). Each
 * string holds digests of fixed width; a full one is sorted. The oldest string is dropped once there are more than `limits.olderIds` ids.
 */
export type IdMemory = readonly string[];

const width = 11;
const fullLength = limits.olderIdsEach * width;
const fullStrings = limits.olderIds / limits.olderIdsEach;

/** The first 66 bits of an id's SHA-256: two of a million ids are alike once in a hundred million sessions. */
const digestOf = (id: string): string => hash('sha256', id, 'base64url').slice(0, width);

/** The memory with further ids. */
export const withIds = (memory: IdMemory, ids: readonly string[]): IdMemory => ids.reduce(withId, memory);

const withId = (memory: IdMemory, id: string): IdMemory => {
  const last = memory.at(-1);
  const isOpen = last !== undefined && last.length < fullLength;
  const before = isOpen ? memory.slice(0, -1) : memory.slice(-fullStrings);
  const grown = (isOpen ? last : '') + digestOf(id);
  return [...before, grown.length < fullLength ? grown : sorted(grown)];
};

const sorted = (digests: string): string =>
  Array.from({ length: digests.length / width }, (_, index) => digestAt(digests, index))
    .sort()
    .join('');

const digestAt = (digests: string, index: number): string => digests.slice(index * width, (index + 1) * width);

/** True if the id is in the memory. */
export const isRemembered = (memory: IdMemory, id: string): boolean => {
  if (memory.length === 0) return false;
  const digest = digestOf(id);
  return memory.some((digests) => (digests.length < fullLength ? isWithin(digests, digest) : isWithinSorted(digests, digest)));
};

const isWithin = (digests: string, digest: string): boolean => {
  for (let at = digests.indexOf(digest); at !== -1; at = digests.indexOf(digest, at + 1)) if (at % width === 0) return true;
  return false;
};

const isWithinSorted = (digests: string, digest: string): boolean => {
  let [low, high] = [0, digests.length / width];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = digestAt(digests, middle);
    if (found === digest) return true;
    if (found < digest) low = middle + 1;
    else high = middle;
  }
  return false;
};

/** The number of ids in the memory. */
export const rememberedIds = (memory: IdMemory): number => memory.reduce((count, digests) => count + digests.length / width, 0);

/** True while the memory has never dropped an id. */
export const hasForgottenNone = (memory: IdMemory): boolean => memory.length <= fullStrings;
