import { type SessionKey, sessionKey } from '../domain/keys/session-key.ts';
import type { IndexRow } from '../domain/projections/index-row.ts';
import {
  type ChainBreak,
  type ChainLink,
  chainBreak,
  chainStart,
  isErasure,
  linkAfter,
  startsAnew,
} from '../domain/session/chain.ts';
import { hasCode } from '../kit/errors.ts';
import { limits } from '../kit/limits.ts';
import type { EventLog, StoredCommit } from '../ports/event-log.ts';
import { linkOf, type StoredLink } from '../wire/commit-link.ts';

/** One place where a history is not as it was written. `unreadable`: the message is no commit of its key. */
export interface Damage {
  readonly key: string;
  readonly seq: number;
  /** Of the commit at which it shows; `null` if that is unreadable. */
  readonly rev: number | null;
  readonly reason: ChainBreak | 'unreadable';
}

export interface ScrubOptions {
  /** The log is read up to this sequence. */
  readonly upTo: number;
  readonly signal: AbortSignal;
  /** Called after each read with what it brought; the next one starts when it resolves. */
  paced(read: { readonly seq: number; readonly commits: number; readonly bytes: number }): Promise<void> | void;
  /** Sessions followed at once; the log is read again for the rest. */
  readonly sessions?: number;
  /** The index: each session's log goes at least as far as its row. */
  rows?(): Iterable<IndexEnd>;
}
type IndexEnd = Pick<IndexRow, 'key' | 'seq' | 'rev'>;

/** What a scrub has found. */
export interface Scrubbed {
  readonly commits: number;
  readonly sessions: number;
  /** The first damage of each damaged session, for the first thousand of them. */
  readonly damages: readonly Damage[];
  /** Sessions that one read found damaged and another whole: a replica differs (R3). */
  readonly differing: readonly string[];
  /** Sessions that were erased and of which something from before is there, for the first thousand of them (C9). */
  readonly unerased: readonly string[];
}

/** Sessions whose chains are followed at once: about 60 MB. */
const sessionsAtOnce = 250_000;
const mostDamages = 1_000;
/** Reads of one session before it counts as damaged: each may be answered by another replica. */
const reads = 5;

type Source = Pick<EventLog, 'raw' | 'last'>;

/**
 * Reads the whole log and checks the chain of every session (I3, F13): each commit against its bytes and the one before it. The memory it
 * takes is bounded: with more sessions than it may follow at once it reads the log several times, each time for a part of them. What is
 * missing at the end of a session shows in no chain, but in its row of the index. Rejects as the log does.
 */
export const scrubLog = async (events: Source, options: ScrubOptions): Promise<Scrubbed> => {
  const found: Found = { suspected: new Set(), unerased: new Set(), ahead: new Map() };
  for (let parts = 1; ; parts *= 2) {
    const read = await readInParts(events, options, parts, found);
    if (read === null) continue;
    const damages: Damage[] = [];
    const differing: string[] = [];
    for (const row of found.ahead.values()) if (await hasLostItsEnd(events, row)) damages.push({ ...row, reason: 'missing' });
    for (const key of found.suspected) {
      if (damages.some((damage) => damage.key === key)) continue;
      const parsed = sessionKey.safeParse(key);
      const damage = parsed.success ? await damageOf(events, parsed.data) : null;
      if (damage === null) differing.push(key);
      else damages.push(damage);
    }
    const unerased: string[] = [];
    for (const key of found.unerased) if (await isBeforeItsErasure(events, key)) unerased.push(key);
    return { ...read, damages, differing, unerased };
  }
};

/** What one reading of the log leaves to be looked at more closely. */
interface Found {
  readonly suspected: Set<string>;
  readonly unerased: Set<string>;
  /** Sessions that end before their row. */
  readonly ahead: Map<string, IndexEnd>;
}

/** What was read may be of a replica that lags behind; the leader knows. */
const hasLostItsEnd = async (events: Source, { key, rev }: IndexEnd): Promise<boolean> => {
  try {
    return ((await events.last(key))?.rev ?? 0) < rev;
  } catch (error) {
    if (hasCode(error, 'damaged')) return true;
    throw error;
  }
};

/** True if each read of the session begins with something that was erased. */
const isBeforeItsErasure = async (events: Source, key: string): Promise<boolean> => {
  const parsed = sessionKey.safeParse(key);
  for (let read = 0; parsed.success && read < reads; read++) {
    const [first] = (await events.raw({ after: 0, limit: 1, key: parsed.data })).messages;
    const link = first && linkOrNull(first);
    if (link && isErasure(link)) return false;
  }
  return parsed.success;
};

/** The first damage of one session that every read of it shows; `null` if one read finds it whole. */
const damageOf = async (events: Source, key: SessionKey): Promise<Damage | null> => {
  let damage: Damage | null = null;
  for (let read = 0; read < reads; read++) {
    damage = await firstDamage(events, key);
    if (damage === null) return null;
  }
  return damage;
};

const firstDamage = async (events: Source, key: SessionKey): Promise<Damage | null> => {
  const chains = new Map<string, ChainLink>();
  const { signal } = new AbortController();
  let first: Damage | null = null;
  for await (const message of messagesOf(events, { key, upTo: Number.MAX_SAFE_INTEGER, signal, paced: () => {} })) {
    const { damage, isDecided } = follow(chains, message);
    first = isDecided ? damage : (first ?? damage);
  }
  return first;
};

/** `null` if a part had more sessions than may be followed at once. */
const readInParts = async (
  events: Source,
  options: ScrubOptions,
  parts: number,
  { suspected, unerased, ahead }: Found,
): Promise<Pick<Scrubbed, 'commits' | 'sessions'> | null> => {
  const most = options.sessions ?? sessionsAtOnce;
  let [commits, sessions] = [0, 0];
  for (let part = 0; part < parts && !options.signal.aborted; part++) {
    const chains = new Map<string, ChainLink>();
    for await (const message of messagesOf(events, options)) {
      if (parts > 1 && partOf(message.key, parts) !== part) continue;
      commits += 1;
      const { damage, isDecided, isUnerased } = follow(chains, message);
      if (isDecided) suspected.delete(message.key);
      if (isUnerased && unerased.size < mostDamages) unerased.add(message.key);
      if (damage !== null && suspected.size < mostDamages) suspected.add(message.key);
      if (chains.size > most) return null;
    }
    sessions += chains.size;
    if (options.signal.aborted) break;
    for (const { key, seq, rev } of options.rows?.() ?? []) {
      if (seq > options.upTo || (parts > 1 && partOf(key, parts) !== part) || ahead.size >= mostDamages) continue;
      if ((chains.get(key)?.rev ?? 0) < rev) ahead.set(key, { key, seq, rev });
    }
  }
  return { commits, sessions };
};

async function* messagesOf(
  events: Source,
  { upTo, signal, paced, key }: ScrubOptions & { readonly key?: SessionKey },
): AsyncGenerator<StoredCommit, void, undefined> {
  let after = 0;
  for (let more = true; more && after < upTo && !signal.aborted; ) {
    const page = await events.raw({ after, limit: limits.readCommits, ...(key && { key }) });
    let bytes = 0;
    for (const message of page.messages) {
      if (message.seq > upTo) return;
      after = message.seq;
      bytes += message.bytes.byteLength;
      yield message;
    }
    more = page.more;
    await paced({ seq: after, commits: page.messages.length, bytes });
  }
}

interface Followed {
  readonly damage: Damage | null;
  /** A person decided in this commit about all damage before it, or erased what was there. */
  readonly isDecided: boolean;
  /** It erased what was there, and some of that was there. */
  readonly isUnerased: boolean;
}

/** Checks one message, and goes on from it whatever it is: each damage shows once. */
const follow = (chains: Map<string, ChainLink>, message: StoredCommit): Followed => {
  const { key, seq } = message;
  const last = chains.get(key) ?? chainStart;
  const link = linkOrNull(message);
  if (link === null) return { damage: { key, seq, rev: null, reason: 'unreadable' }, isDecided: false, isUnerased: false };
  const reason = chainBreak(last, link);
  chains.set(key, linkAfter(last, link));
  const damage = reason === null ? null : { key, seq, rev: link.rev, reason };
  return { damage, isDecided: startsAnew(link), isUnerased: last !== chainStart && isErasure(link) };
};

const linkOrNull = (message: StoredCommit): StoredLink | null => {
  try {
    return linkOf(message);
  } catch {
    return null;
  }
};

const partOf = (key: string, parts: number): number => {
  let hash = 0;
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) >>> 0;
  return hash % parts;
};
