import { effect, signal } from '@preact/signals';
import { type EventPage, type EventType, type NatterEvent, type SessionPage, sessionPath } from '../../../shared/client/main.ts';
import { away } from '../base/away.ts';
import { client, problemOf } from '../base/signed-in.ts';

/** Events that the inspector keeps, and how many sequences of the log it looks back when it opens, and each time it is asked for more. */
const kept = 10_000;
const lookBack = 1_000;
const pageEvents = 1_000;

export interface EventQuery {
  readonly key?: string | undefined;
  readonly types: readonly EventType[];
}

/** The events that a filter wants, from both ends: a while back, older ones when asked, and what comes. The gateway filters. */
export class EventList {
  readonly #query: EventQuery;
  readonly #closing = new AbortController();
  #first = 0;
  #isReadingOlder = false;
  #coming: NatterEvent[] = [];
  /** Oldest first. */
  readonly events = signal<readonly NatterEvent[]>([]);
  readonly hasOlder = signal(false);
  readonly problem = signal<string | null>(null);
  readonly isPaused = signal(false);
  /** Events that came while it stood still. */
  readonly held = signal(0);

  constructor(query: EventQuery) {
    this.#query = query;
    const release = effect(() => {
      if (!this.isPaused.value) this.#show();
    });
    this.#closing.signal.addEventListener('abort', release);
    void this.#run();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Reads what is before the first one. What is kept is full at some time: then there is no more. */
  async readOlder(): Promise<void> {
    if (this.#isReadingOlder) return;
    this.#isReadingOlder = true;
    const until = this.#first;
    const first = Math.max(0, until - lookBack);
    const found: NatterEvent[] = [];
    try {
      for (let after = `${first}`; ; ) {
        const page = await this.#page(after);
        found.push(...page.events.filter(({ seq }) => seq <= until));
        if (!page.more || Number(page.next.split('.')[0]) >= until) break;
        after = page.next;
      }
      this.#first = first;
      this.events.value = [...found, ...this.events.peek()].slice(-kept);
      this.hasOlder.value = first > 0 && this.events.peek().length < kept;
    } catch (error) {
      if (!this.#closing.signal.aborted) this.problem.value = problemOf(error);
    } finally {
      this.#isReadingOlder = false;
    }
  }

  #page(after: string): Promise<EventPage> {
    const { key, types } = this.#query;
    const path = key === undefined ? '/v1/events' : sessionPath(key, '/events');
    return client.get(path, { query: { after, limit: pageEvents, type: types }, signal: this.#closing.signal });
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    try {
      this.#first = this.#query.key === undefined ? Math.max(0, (await this.#end()) - lookBack) : 0;
      this.hasOlder.value = this.#first > 0;
      const { key, types } = this.#query;
      const wanted = { ...(key !== undefined && { key }), ...(types.length > 0 && { types }), after: this.#first };
      for await (const item of client.events({ ...wanted, signal, onWaiting: away(this.problem, signal) })) {
        if (!('seq' in item && 'rev' in item)) continue;
        this.#coming.push(item);
        // What comes together is shown together.
        if (this.#coming.length === 1) queueMicrotask(() => this.#take());
      }
    } catch (error) {
      if (!signal.aborted) this.problem.value = problemOf(error);
    }
  }

  /** The last sequence of the log: that of the session that changed last. */
  async #end(): Promise<number> {
    const query = { limit: 1, status: 'all' };
    const { signal } = this.#closing;
    const { sessions } = await client.get<SessionPage>('/v1/sessions', { query, signal });
    return sessions[0]?.seq ?? 0;
  }

  #take(): void {
    if (this.isPaused.peek()) {
      this.held.value = this.#coming.length;
      // They are still at the gateway.
      if (this.#coming.length > kept) this.#coming.splice(0, this.#coming.length - kept);
    } else this.#show();
  }

  #show(): void {
    if (this.#coming.length > 0) this.events.value = [...this.events.peek(), ...this.#coming].slice(-kept);
    this.#coming = [];
    this.held.value = 0;
  }
}
