import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { IssuedToken, Tokens } from '../../ports/access/tokens.ts';
import { encode } from '../../wire/codec.ts';
import { bucketKey } from '../../wire/subjects.ts';
import { issuedTokenCodec, ticketCodec } from '../../wire/token-records.ts';
import { openBucketCopy } from './bucket-copy.ts';
import type { Entry, KeyValue } from './key-value.ts';

const tokenPart = 'token';
const tokenKey = (id: string): string => bucketKey(tokenPart, id);
const ticketKey = (sha256: string): string => bucketKey('ticket', sha256);
/** How long the mark of a used ticket stays: until the ticket would have expired. */
const usedMs = 60_000;

/** The decoded value; `null` if there is none or it is unreadable, which grants no access. */
const orNull = <T>({ value }: Entry, decode: (bytes: Uint8Array) => T): T | null => {
  if (value === null) return null;
  try {
    return decode(value);
  } catch {
    return null;
  }
};

/** Tokens and tickets in a bucket: `token.<id>` and `ticket.<sha256>`. */
export const createTokens = (bucket: KeyValue, clock: Clock): Tokens => ({
  add: async (token) => {
    const key = tokenKey(token.id);
    return (await bucket.put(key, issuedTokenCodec.encode(token), { fence: { key, revision: 0 } })) !== null;
  },
  change: async (id, change) => {
    const key = tokenKey(id);
    for (let attempt = 0; attempt <= limits.fencedRetries; attempt++) {
      const entry = await bucket.read(key);
      const token = orNull(entry, issuedTokenCodec.decode);
      if (token === null) return null;
      const changed = change(token);
      const written = await bucket.put(key, issuedTokenCodec.encode(changed), { fence: entry });
      if (written !== null) return changed;
    }
    throw new NatterError('unavailable', `other writers keep changing token ${id}`, { retryAfterMs: 1_000 });
  },
  remove: async (id) => {
    await bucket.put(tokenKey(id), null);
  },
  watch: async () => {
    const { current, refresh, close } = await openBucketCopy(bucket, clock, {
      part: tokenPart,
      hinted: true,
      empty: () => new Map<string, IssuedToken>(),
      take: (held, entry) => {
        const token = orNull(entry, issuedTokenCodec.decode);
        if (token === null) held.delete(entry.key);
        else held.set(entry.key, token);
      },
    });
    return { get: (id) => current().get(tokenKey(id)), all: () => current().values(), refresh, close };
  },
  keepTicket: async (sha256, ticket, ttlMs) => {
    await bucket.put(ticketKey(sha256), ticketCodec.encode(ticket), { ttlMs });
  },
  takeTicket: async (sha256) => {
    const key = ticketKey(sha256);
    const entry = await bucket.read(key);
    const ticket = orNull(entry, ticketCodec.decode);
    if (ticket === null) return null;
    // A unique mark instead of a removal: of two simultaneous uses, each can see whose mark is stored.
    const used = await bucket.put(key, encode({ usedBy: randomUUID() }), { fence: entry, ttlMs: usedMs });
    return used === null ? null : ticket;
  },
});
