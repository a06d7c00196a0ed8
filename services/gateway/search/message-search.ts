import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { writer } from '../../../shared/domain/values/person-words.ts';
import type { Sender } from '../../../shared/domain/values/types.ts';
import type { Backoff } from '../../../shared/kit/backoff.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { FoundBy, Searchable, TextIndex } from '../../../shared/ports/search/text-index.ts';
import { LogFollower } from '../../../shared/runtime/log-follower.ts';

/** A message that can be found (B19). `id` is that of its event, with `-` for `.`, by which the index orders entries. */
export interface FoundMessage extends Searchable {
  readonly scope: SessionKey;
  readonly at: number;
  readonly role: 'user' | 'assistant';
}

/** Commits, from the newest on, whose messages can be searched, and characters of those messages. */
const [searchedCommits, searchedCharacters] = [100_000, 32_000_000];
/** The log as this gateway follows it. */
interface Feed {
  readonly position: number;
  follow(options: { after: number; signal: AbortSignal }): AsyncGenerator<RecordedCommit, void, undefined>;
}

/** How long a search waits until the messages are indexed. */
const patienceMs = 10_000;
const lookMs = 20;
const retries: Backoff = { firstMs: 1_000, mostMs: 1_000 };

/** Without the name of a token, such as that of the terminal chat: it is no person's. */
const nameOf = (sender: Sender | undefined): string | undefined =>
  sender?.id === writer ? undefined : sender?.name?.trim() || undefined;

/** What is said in an event, and the name of the person who said it. */
const saidIn = (event: SessionEvent): Pick<FoundMessage, 'role' | 'text' | 'from'> | null => {
  switch (event.type) {
    case 'user_message':
      return { role: 'user', text: event.message.text, from: nameOf(event.message.sender) };
    case 'assistant_message':
      return { role: 'assistant', text: event.text };
    default:
      return null;
  }
};

/**
 * What was said lately in all sessions, by its words, in this gateway's memory (B19). It is made from the log on first use, then follows it.
 * It has the messages of the newest `searchedCommits` commits, and of those the newest that fit.
 */
export class MessageSearch {
  readonly #feed: Feed;
  readonly #clock: Clock;
  readonly #open: () => Promise<TextIndex<FoundMessage>>;
  readonly #closing = new AbortController();
  readonly #follower: LogFollower;
  #index: TextIndex<FoundMessage> | null = null;
  #running: Promise<void> | null = null;
  #problem = 'not loaded yet';
  /** Messages after this sequence are found. */
  #since = 0;

  /** `open` makes an empty index. */
  constructor(feed: Feed, clock: Clock, open: () => Promise<TextIndex<FoundMessage>>) {
    this.#feed = feed;
    this.#clock = clock;
    this.#open = open;
    this.#follower = new LogFollower({ events: feed, start: () => this.#start(), readPauseMs: 0 });
  }

  /**
   * The best matches that have all the words. `since`: older messages are not looked at; 0: all are. `complete`: everything up to now has
   * been. Throws `NatterError('unavailable')` while nothing can be searched.
   */
  async search(wanted: Omit<FoundBy, 'every'>): Promise<{ found: FoundMessage[]; since: number; complete: boolean }> {
    const target = this.#feed.position;
    this.#running ??= this.#run();
    const until = this.#clock.monotonic() + patienceMs;
    const { signal } = this.#closing;
    const isLate = (): boolean => this.#index === null || this.#follower.position < target;
    while (isLate() && this.#clock.monotonic() < until && !signal.aborted) await this.#clock.sleep(lookMs, signal);
    if (this.#index === null) throw new NatterError('unavailable', `message search: ${this.#problem}`, { retryAfterMs: 1_000 });
    const found = this.#index.search({ ...wanted, every: true });
    return { found, since: this.#since, complete: !isLate() };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    this.#index?.close();
  }

  #run(): Promise<void> {
    return this.#follower.runResuming(this.#closing.signal, (commit) => this.#take(commit), {
      ...{ clock: this.#clock, retries },
      reading: () => {},
      failed: (error) => {
        this.#problem = errorMessage(error);
      },
    });
  }

  async #start(): Promise<number> {
    this.#since = Math.max(0, this.#feed.position - searchedCommits);
    this.#index = await this.#open();
    return this.#since;
  }

  #take({ key, seq, at, events }: RecordedCommit): void {
    for (const [index, event] of events.entries()) {
      const said = saidIn(event);
      if (said !== null) this.#add({ id: idOf(`${seq}.${index}`), scope: key, source: { seq }, at, ...said });
      else if (event.type === 'session_deleted') this.#index?.clear(key);
      else if (event.type === 'message_edited') this.#revise(event.of, event.text);
      else if (event.type === 'message_withdrawn') this.#index?.delete(idOf(event.of));
    }
  }

  #revise(of: string, text: string): void {
    const before = this.#index?.get(idOf(of));
    if (before) this.#add({ ...before, text });
  }

  #add(message: FoundMessage): void {
    const index = this.#index;
    if (index === null || message.text.trim() === '') return;
    index.set(message);
    while (index.characters > searchedCharacters) {
      const oldest = index.oldest();
      if (oldest === undefined || oldest.id === message.id) return;
      index.delete(oldest.id);
      this.#since = Math.max(this.#since, oldest.source.seq);
    }
  }
}

const idOf = (eventId: string): string => eventId.replace('.', '-');
