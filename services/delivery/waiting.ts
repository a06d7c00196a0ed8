import { deliveryWordsCharacters, reportedWaitingPlaces, type WaitingDelivery } from '../../shared/domain/values/delivery.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import { deliveryLimits } from './delivery-limits.ts';
import { conversationIn, conversationOf } from './delivery-log.ts';
import { type Account, accountName } from './parked-accounts.ts';

/** What waits in the log: the outbounds of a conversation or an account from a commit on. */
interface Entry {
  /** Sequence of the first commit that has one. */
  readonly seq: number;
  /** When they are due, ms. */
  readonly until: number;
  /** Why the first one waits, how often it was tried, and whose it is. */
  readonly first?: { readonly detail: string; readonly attempts?: number | undefined; readonly sessionKey: string };
}

const scopesOf = ({ target }: Outbound): string[] => [conversationOf(target), accountName(target)];

const shortened = ({ detail, ...rest }: NonNullable<Entry['first']>): Entry['first'] => ({
  ...rest,
  detail: detail.slice(0, deliveryWordsCharacters).toWellFormed(),
});

/**
 * The conversations and accounts whose outbounds wait. Their outbounds are not kept in memory: once they are due, the log is read again
 * from the first one on (I11).
 */
export class WaitingScopes {
  readonly #entries = new Map<string, Entry>();
  /** Entries that are being read: what they held is in hand again. */
  readonly #taken = new WeakSet<Entry>();

  get size(): number {
    return this.#entries.size;
  }

  /** The first conversations that wait until a certain time. */
  conversations(): WaitingDelivery[] {
    const waiting: WaitingDelivery[] = [];
    for (const [scope, { until, first }] of this.#entries) {
      if (waiting.length >= reportedWaitingPlaces) break;
      const conversation = until === 0 ? null : conversationIn(scope);
      if (conversation && first) waiting.push({ ...conversation, state: 'waiting', ...first, until });
    }
    return waiting;
  }

  /** The parked accounts, each with the session of a message that waits for it, and then the conversations. */
  report(parked: readonly WaitingDelivery[]): WaitingDelivery[] {
    return [...parked.map((account) => ({ ...account, sessionKey: this.#sessionOf(account) })), ...this.conversations()];
  }

  #sessionOf(account: Account): string | undefined {
    const name = accountName(account);
    for (const [scope, { first }] of this.#entries) {
      const conversation = conversationIn(scope);
      if (first && (scope === name || (conversation && accountName(conversation) === name))) return first.sessionKey;
    }
    return undefined;
  }

  /** Sequence of the first commit that has something waiting; `Infinity` if there is none. */
  firstSeq(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { seq } of this.#entries.values()) first = Math.min(first, seq);
    return first;
  }

  /** Makes a scope wait from the commit at `seq` on; false if there is no room for another one. */
  add(scope: string, { seq, until, first }: Entry): boolean {
    const known = this.#entries.get(scope);
    if (known === undefined && this.#entries.size >= deliveryLimits.waiting) return false;
    const isFirst = known === undefined || this.#taken.has(known);
    this.#entries.set(scope, { seq: isFirst ? seq : Math.min(seq, known.seq), until, ...(first && { first: shortened(first) }) });
    return true;
  }

  /** Whether an outbound that comes from the log has to wait; if so, its commit is read again. */
  holds(outbound: Outbound, reading: Reading | null = null): boolean {
    const scope = scopesOf(outbound).find((each) => this.#entries.has(each) && !reading?.has(each));
    const entry = scope === undefined ? undefined : this.#entries.get(scope);
    if (scope === undefined || entry === undefined) return false;
    if (outbound.seq < entry.seq) this.#entries.set(scope, { ...entry, seq: outbound.seq });
    return true;
  }

  /** Whether an outbound in hand has to wait, because one before it does. */
  holdsBack(outbound: Outbound): boolean {
    return scopesOf(outbound).some((scope) => {
      const entry = this.#entries.get(scope);
      return entry !== undefined && !this.#taken.has(entry) && outbound.seq >= entry.seq;
    });
  }

  /** Makes a scope due. */
  wake(scope: string): void {
    const entry = this.#entries.get(scope);
    if (entry !== undefined) this.#entries.set(scope, { ...entry, until: 0 });
  }

  /** What is due, to be read again; `null` if nothing is. Scopes that are `busy` still have outbounds in hand. */
  due(now: number, busy: (scope: string) => boolean): Reading | null {
    const due = [...this.#entries].filter(([scope, { until }]) => until <= now && !busy(scope));
    if (due.length === 0) return null;
    const entries = new Map(due);
    for (const [, entry] of due) this.#taken.add(entry);
    const isMine = (scope: string): boolean => entries.has(scope) && this.#entries.get(scope) === entries.get(scope);
    return {
      after: Math.min(...due.map(([, { seq }]) => seq)) - 1,
      has: isMine,
      covers: (outbound) => scopesOf(outbound).some(isMine),
      isOver: () => ![...entries.keys()].some(isMine),
      done: () => {
        for (const scope of entries.keys()) if (isMine(scope)) this.#entries.delete(scope);
      },
    };
  }
}

/** One reading of what is due. A scope that has to wait again is no longer part of it. */
export interface Reading {
  /** The log is read after this sequence. */
  readonly after: number;
  has(scope: string): boolean;
  covers(outbound: Outbound): boolean;
  /** Every scope has to wait again. */
  isOver(): boolean;
  /** All was read: what comes now need not wait. */
  done(): void;
}
