import { effect, signal } from '@preact/signals';
import { type EventPage, type EventType, type NatterEvent, sessionPath } from '../../../shared/client/main.ts';
import { away } from '../base/away.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { cursorAt } from './time-cursor.ts';

/** Events that are kept of what comes. */
const kept = 10_000;
const pageEvents = 1_000;
/** The gateway looks through a part of the log at a time: a read goes on until there is enough to fill a screen, or for so many parts. */
const [screenEvents, mostParts] = [50, 25];

export interface EventQuery {
  readonly key?: string | undefined;
  readonly types: readonly EventType[];
  /** Which events of these types; the gateway filters by type alone. Default: all. */
  fits?(event: NatterEvent): boolean;
  /** Where it begins: at the end, and follows what comes; at the first event, and reads on; or before a time, ms, and reads back. */
  readonly from: 'end' | 'beginning' | number;
}

/** The events that a filter wants: a page of them, more when asked, and what comes. The gateway filters. */
export class EventList {
  readonly #query: EventQuery;
  readonly #closing = new AbortController();
  readonly #fits = (event: NatterEvent): boolean => this.#query.fits?.(event) ?? true;
  /** Where the next page begins. */
  #cursor: string | null;
  #read = 0;
  #isFollowing = false;
  #coming: NatterEvent[] = [];
  /** Oldest first. */
  readonly events = signal<readonly NatterEvent[]>([]);
  /** There are more events in the direction in which it reads, or may be. */
  readonly hasMore = signal(true);
  readonly isReading = signal(false);
  readonly problem = signal<string | null>(null);
  readonly isPaused = signal(false);
  /** Events that came while it stood still. */
  readonly held = signal(0);

  constructor(query: EventQuery) {
    this.#query = query;
    this.#cursor = query.from === 'end' ? 'end' : query.from === 'beginning' ? '0' : null;
    const release = effect(() => {
      if (!this.isPaused.value) this.#show();
    });
    this.#closing.signal.addEventListener('abort', release);
    void this.readMore();
  }

  get isForwards(): boolean {
    return this.#query.from === 'beginning';
  }

  /** It shows what comes. */
  get isLive(): boolean {
    return this.#query.from === 'end';
  }

  close(): void {
    this.#closing.abort();
  }

  /** Reads the next events in its direction. */
  async readMore(): Promise<void> {
    if (this.isReading.peek()) return;
    this.isReading.value = true;
    this.problem.value = null;
    try {
      for (let part = 0, found = 0; part < mostParts && found < screenEvents && this.hasMore.peek(); part++)
        found += await this.#readPart();
    } catch (error) {
      if (!this.#closing.signal.aborted) this.problem.value = problemOf(error);
    } finally {
      this.isReading.value = false;
    }
  }

  async #readPart(): Promise<number> {
    const { from } = this.#query;
    if (typeof from === 'number') this.#cursor ??= await cursorAt(from, (query) => this.#page(query));
    const cursor = this.#cursor ?? 'end';
    const position = { [this.isForwards ? 'after' : 'before']: cursor };
    const { events: read, next, more } = await this.#page({ ...position, limit: pageEvents, type: this.#query.types });
    const events = read.filter(this.#fits);
    this.#cursor = next;
    this.#read += events.length;
    this.hasMore.value = more;
    const before = this.events.peek();
    this.events.value = this.isForwards ? [...before, ...events] : [...events.toReversed(), ...before];
    // What comes after the newest one, or after all that was looked through for one.
    if (this.isLive && !this.#isFollowing) void this.#follow(read[0]?.id ?? next);
    return events.length;
  }

  #page(query: Readonly<Record<string, string | number | readonly string[]>>): Promise<EventPage> {
    const { key } = this.#query;
    const path = key === undefined ? '/v1/events' : sessionPath(key, '/events');
    return client.get(path, { query, signal: this.#closing.signal, patienceMs: Number.POSITIVE_INFINITY });
  }

  async #follow(after: string): Promise<void> {
    this.#isFollowing = true;
    const { signal } = this.#closing;
    const { key, types } = this.#query;
    const wanted = { ...(key !== undefined && { key }), ...(types.length > 0 && { types }), after };
    try {
      for await (const item of client.events({ ...wanted, signal, onWaiting: away(this.problem, signal) })) {
        if (!('seq' in item && 'rev' in item && this.#fits(item))) continue;
        this.#coming.push(item);
        // What comes together is shown together.
        if (this.#coming.length === 1) queueMicrotask(() => this.#take());
      }
    } catch (error) {
      if (!signal.aborted) this.problem.value = problemOf(error);
    }
  }

  #take(): void {
    if (this.isPaused.peek()) {
      this.held.value = this.#coming.length;
      // They are still at the gateway.
      if (this.#coming.length > kept) this.#coming.splice(0, this.#coming.length - kept);
    } else this.#show();
  }

  #show(): void {
    if (this.#coming.length > 0) this.#add(this.#coming);
    this.#coming = [];
    this.held.value = 0;
  }

  /** The oldest ones make way for what comes, and can be read again. */
  #add(coming: readonly NatterEvent[]): void {
    const all = [...this.events.peek(), ...coming];
    const shown = all.slice(-(kept + this.#read));
    if (shown.length < all.length) {
      this.#cursor = shown[0]?.id ?? this.#cursor;
      this.hasMore.value = true;
    }
    this.events.value = shown;
  }
}
