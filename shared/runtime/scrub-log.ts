import { type ChainBreak, type ChainLink, chainBreak, chainStart, linkAfter } from '../domain/session/chain.ts';
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
  found(damage: Damage): void;
  /** Sessions followed at once; the log is read again for the rest. Default `limits.scrubSessions`. */
  readonly sessions?: number;
}

/** What one scrub has read. `passes`: how often the log was read. */
export interface Scrubbed {
  readonly commits: number;
  readonly sessions: number;
  readonly passes: number;
}

/**
 * Reads the whole log and checks the chain of every session (I3, F13): each commit against its bytes and the one before it. The memory it
 * takes is bounded: with more sessions than it may follow at once it reads the log several times, each time for a part of them. Rejects as
 * the log does. What is missing at the end of a session shows in no chain.
 */
export const scrubLog = async (events: Pick<EventLog, 'raw'>, options: ScrubOptions): Promise<Scrubbed> => {
  const most = options.sessions ?? limits.scrubSessions;
  for (let parts = 1; ; parts *= 2) {
    const scrubbed = await inParts(events, options, parts, most);
    if (scrubbed !== null) return scrubbed;
  }
};

/** `null` if a part had more sessions than may be followed at once. */
const inParts = async (
  events: Pick<EventLog, 'raw'>,
  options: ScrubOptions,
  parts: number,
  most: number,
): Promise<Scrubbed | null> => {
  let [commits, sessions] = [0, 0];
  for (let part = 0; part < parts && !options.signal.aborted; part++) {
    const chains = new Map<string, ChainLink>();
    for await (const message of messagesOf(events, options)) {
      if (parts > 1 && partOf(message.key, parts) !== part) continue;
      commits += 1;
      const damage = follow(chains, message);
      if (damage !== null) options.found(damage);
      if (chains.size > most) return null;
    }
    sessions += chains.size;
  }
  return { commits, sessions, passes: parts };
};

async function* messagesOf(
  events: Pick<EventLog, 'raw'>,
  { upTo, signal, paced }: ScrubOptions,
): AsyncGenerator<StoredCommit, void, undefined> {
  let after = 0;
  for (let more = true; more && after < upTo && !signal.aborted; ) {
    const page = await events.raw({ after, limit: limits.readCommits });
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

/** Checks one message, and goes on from it whatever it is: each damage is told once. */
const follow = (chains: Map<string, ChainLink>, message: StoredCommit): Damage | null => {
  const { key, seq } = message;
  const link = linkOrNull(message);
  const last = chains.get(key) ?? chainStart;
  if (link === null) return { key, seq, rev: null, reason: 'unreadable' };
  const reason = chainBreak(last, link);
  chains.set(key, linkAfter(last, link));
  return reason === null ? null : { key, seq, rev: link.rev, reason };
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
