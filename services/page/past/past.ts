import { computed, signal } from '@preact/signals';
import type { LogEntry } from '../../../shared/client/main.ts';
import { gapText } from '../../../shared/domain/session/chain.ts';
import type { ShownState } from '../../../shared/domain/session/fold/evolve.ts';
import { readAndFollow } from './follow.ts';
import type { Landmark } from './landmark.ts';
import { Timeline } from './timeline.ts';

const sliceMs = 12;
/** How often the count is drawn while much is read, ms. */
const showMs = 100;
/** Lets the browser draw and take what people do. Without the 4 ms that it adds to timers that follow each other. */
const breathe = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });

/** The newest moment, folded elsewhere: its last commits, oldest first, and the state after them. */
export interface Newest {
  readonly commits: readonly LogEntry[];
  readonly state: ShownState;
}

/** Where a past is read from: the gateway, which goes on, or a file, which does not. */
export interface PastSource {
  readonly isLive: boolean;
  /** The commits after a sequence, in order. */
  commits(after: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** The sequence of each event that is recorded from now on. */
  recorded(after: number, signal: AbortSignal): AsyncIterable<number>;
  /** The newest moment, where it is known before all is read. */
  newest?(signal: AbortSignal): Promise<Newest | null>;
  /** What a person is told of an error of these. */
  problemOf(error: unknown): string;
}

/** The past of one session: read and folded in slices, so that the page never stops, and followed while it goes on. */
export class Past {
  readonly key: string;
  readonly timeline = new Timeline();
  /** Commits folded so far. */
  readonly count = signal(0);
  /** The place chosen; `null`: the newest, whatever comes. */
  readonly chosen = signal<number | null>(null);
  readonly place = computed(() => Math.min(this.chosen.value ?? this.count.value, this.count.value));
  readonly isRead = signal(false);
  /** There is a moment to draw: the newest once all is read, or the chosen one. Drawing those on the way would take longer than folding them. */
  readonly hasMoment = computed(() => this.isRead.value || this.chosen.value !== null || this.problem.value !== null);
  readonly problem = signal<string | null>(null);
  /** A sequence that somebody asked for, until it has been read. */
  readonly wanted = signal<number | null>(null);
  /** What is drawn until all is read, or a moment is chosen. */
  readonly newest = signal<Newest | null>(null);
  readonly #closing = new AbortController();

  readonly #source: PastSource;

  constructor(key: string, wantedSeq: number | null, source: PastSource) {
    this.key = key;
    this.#source = source;
    this.wanted.value = wantedSeq;
    void this.#run();
  }

  /** It may go on, and the gateway can be asked about it. */
  get isLive(): boolean {
    return this.#source.isLive;
  }

  /** The places of landmarks among the commits folded so far: whoever draws them is told when there are more. */
  marksOf(kind: Landmark): readonly number[] {
    return this.count.value === 0 ? [] : this.timeline.marks[kind];
  }

  /** What a person is told of damage to the log; `null`: none was found in the commits folded so far. */
  damage(): string | null {
    const { gap } = this.timeline;
    if (this.count.value === 0 || gap === null) return null;
    // Of a session that was deleted and begun anew, only the owner sees what was before that.
    if (gap.afterSeq === 0) return `${gapText(gap)}, or not for you to see: what follows is not folded`;
    return `${gapText(gap)}: what follows is not folded, and the session is read-only until "natter repair ${this.key}"`;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Goes to a place: a number of commits. At the end it follows what comes. */
  goTo(place: number): void {
    const count = this.count.value;
    this.chosen.value = place >= count && this.isRead.value ? null : Math.max(0, Math.min(place, count));
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    void this.#showNewest();
    try {
      await readAndFollow(this.#source, signal, {
        read: (after) => this.#read(after),
        isRead: () => {
          this.isRead.value = true;
        },
      });
    } catch (error) {
      if (!signal.aborted) this.problem.value = this.#source.problemOf(error);
    }
  }

  async #showNewest(): Promise<void> {
    if (this.wanted.value !== null) return;
    // All is read in any case, and that tells what is wrong.
    const newest = await this.#source.newest?.(this.#closing.signal).catch(() => null);
    if (newest && !this.isRead.value) this.newest.value = newest;
  }

  async #read(after: number): Promise<number> {
    let [begun, shown] = [performance.now(), 0];
    for await (const commit of this.#source.commits(after, this.#closing.signal)) {
      this.#add(commit);
      const now = performance.now();
      if (now - begun < sliceMs) continue;
      if (now - shown >= showMs) {
        this.#show();
        shown = now;
      }
      await breathe();
      begun = performance.now();
    }
    this.#show();
    return this.timeline.commits.at(-1)?.seq ?? after;
  }

  #add(commit: LogEntry): void {
    this.timeline.add(commit);
    const wanted = this.wanted.value;
    if (wanted === null || commit.seq < wanted) return;
    // It is drawn from now on: another place in between would be a moment that nobody asked for.
    this.#show();
    this.chosen.value = this.timeline.countAt(wanted);
    this.wanted.value = null;
  }

  #show(): void {
    this.count.value = this.timeline.commits.length;
  }
}
