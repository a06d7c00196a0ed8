import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import type { Change, Entry, KeyValue, PutOptions } from '../kv/key-value.ts';
import { putEntry } from '../kv/put-entry.ts';
import { type CallOutcome, type Faults, type FaultyCall, noFaults } from './faults.ts';

export interface InMemoryStoreOptions {
  readonly clock: Clock;
  readonly faults?: Faults;
  /** How long a caller waits for a lost answer, in ms. Default 2,000. */
  readonly requestTimeoutMs?: number;
}

interface Kept extends Entry {
  /** Monotonic time at which the value expires. */
  readonly expiresAt: number;
  /** Wall clock at which it was written. */
  readonly writtenAt: number;
  /** The entry that a lagging replica still has. */
  readonly previous: Entry;
}

const nothing = (key: string): Entry => ({ key, revision: 0, value: null });

/**
 * A bucket in memory, with the broker's failure modes: answers get lost, writes land late, replicas lag. Several hosts share one.
 */
export class InMemoryKeyValue implements KeyValue {
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #timeoutMs: number;
  /** In the order of revisions. */
  readonly #entries = new Map<string, Kept>();
  readonly #hints = new Set<{ readonly filter: string; wake(): void }>();
  #revision = 0;
  #incarnation: number;
  /** How often every connection broke: what was on its way then is lost. For tests. */
  breaks = 0;

  constructor({ clock, faults = noFaults, requestTimeoutMs = 2_000 }: InMemoryStoreOptions) {
    this.#clock = clock;
    this.#faults = faults;
    this.#timeoutMs = requestTimeoutMs;
    this.#incarnation = clock.now();
  }

  async read(key: string): Promise<Entry> {
    await this.#reach('last');
    return this.#visible(this.#entries.get(key) ?? nothing(key));
  }

  async peek(key: string): Promise<Entry> {
    const { fault } = await this.#reach('read');
    const entry = this.#entries.get(key);
    if (entry === undefined) return nothing(key);
    return this.#visible(fault === 'stale' ? entry.previous : entry);
  }

  put(key: string, value: Uint8Array | null, { fence, ttlMs }: PutOptions = {}): Promise<number | null> {
    const write = (): number | 'unknown' => this.#write(key, value, { ...(fence && { fence }), ...(ttlMs && { ttlMs }) });
    return putEntry({
      key,
      value,
      fence,
      send: () => this.#send(write),
      read: (name) => this.read(name),
      doing: 'write an in-memory bucket',
    });
  }

  async changes(part: string, after: number, limit: number): Promise<{ entries: Change[]; more: boolean }> {
    const { fault, behind } = await this.#reach('read');
    this.#markExpired(part);
    const newest = this.#revision - (fault === 'stale' ? behind : 0);
    const changed = [...this.#entries.values()].filter(
      ({ key, revision }) => revision > after && revision <= newest && key.startsWith(`${part}.`),
    );
    const entries = changed.slice(0, limit).map((entry) => ({ ...this.#visible(entry), writtenAt: entry.writtenAt }));
    return { entries, more: changed.length > limit };
  }

  hint(filter: string, wake: () => void): () => void {
    const watcher = { filter, wake };
    this.#hints.add(watcher);
    return () => this.#hints.delete(watcher);
  }

  async info(): Promise<{ incarnation: number; revision: number; now: number }> {
    await this.#reach('info');
    return { incarnation: this.#incarnation, revision: this.#revision, now: this.#clock.now() };
  }

  /** Recreates the bucket, empty. For tests. */
  recreate(): void {
    this.forget(0);
    this.#incarnation++;
  }

  /**
   * Undoes all writes after a revision, as a power cut does to a bucket that does not wait for the disk. The previous value of
   * such a key comes back if it is older. For tests.
   */
  forget(revision: number): void {
    const left = [...this.#entries.values()].flatMap((entry): Kept[] => {
      if (entry.revision <= revision) return [entry];
      const { previous } = entry;
      const restored = previous.revision > 0 && previous.revision <= revision;
      const { writtenAt } = entry;
      return restored ? [{ ...previous, expiresAt: Number.POSITIVE_INFINITY, writtenAt, previous: nothing(entry.key) }] : [];
    });
    this.#entries.clear();
    for (const entry of left.sort((one, other) => one.revision - other.revision)) this.#entries.set(entry.key, entry);
    this.#revision = revision;
  }

  #visible({ key, revision, value, expiresAt = Number.POSITIVE_INFINITY }: Entry & { expiresAt?: number }): Entry {
    return { key, revision, value: expiresAt <= this.#clock.monotonic() ? null : value };
  }

  #write(key: string, value: Uint8Array | null, { fence, ttlMs }: PutOptions): number | 'unknown' {
    if (fence && (this.#entries.get(fence.key)?.revision ?? 0) !== fence.revision) return 'unknown';
    const previous = this.#entries.get(key) ?? nothing(key);
    const expiresAt = ttlMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonic() + ttlMs;
    this.#entries.delete(key);
    const writtenAt = this.#clock.now();
    this.#entries.set(key, { key, revision: ++this.#revision, value, expiresAt, writtenAt, previous: this.#visible(previous) });
    for (const { filter, wake } of this.#hints)
      if (filter === key || (filter.endsWith('.>') && key.startsWith(filter.slice(0, -1)))) wake();
    return this.#revision;
  }

  /** What has expired becomes a change, as the broker's marker does. */
  #markExpired(part: string): void {
    for (const entry of [...this.#entries.values()])
      if (entry.key.startsWith(`${part}.`) && entry.value !== null && this.#visible(entry).value === null)
        this.#write(entry.key, null, {});
  }

  /** One attempt, with the outcome that the faults choose. */
  async #send(write: () => number | 'unknown'): Promise<number | 'unknown'> {
    const { fault, delayMs, lateMs } = this.#faults.next('append');
    if (!(await this.#pass(delayMs))) throw this.#unavailable();
    if (fault === 'none' || fault === 'stale') return write();
    if (fault === 'unavailable') throw this.#unavailable();
    if (fault === 'answer_lost') write();
    if (fault === 'landed_late') void this.#pass(this.#timeoutMs + lateMs).then((there) => there && write());
    await this.#clock.sleep(this.#timeoutMs);
    return 'unknown';
  }

  async #reach(call: FaultyCall): Promise<CallOutcome> {
    const fate = this.#faults.next(call);
    await this.#pass(fate.delayMs);
    if (fate.fault === 'none' || fate.fault === 'stale') return fate;
    if (fate.fault !== 'unavailable') await this.#clock.sleep(this.#timeoutMs);
    throw this.#unavailable();
  }

  #unavailable(): NatterError {
    return new NatterError('unavailable', 'the in-memory bucket did not answer', { retryAfterMs: this.#timeoutMs });
  }

  /** Every message arrives later than it was sent; false: the connection broke on its way. */
  async #pass(ms: number): Promise<boolean> {
    const { breaks } = this;
    await (ms > 0 ? this.#clock.sleep(ms) : Promise.resolve());
    return breaks === this.breaks;
  }
}
