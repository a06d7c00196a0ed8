import { computed, signal } from '@preact/signals';
import type { LogEntry } from '../../../shared/client/main.ts';
import { client, problemOf } from '../base/signed-in.ts';
import { Timeline } from './timeline.ts';

const sliceMs = 12;
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

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
  readonly problem = signal<string | null>(null);
  /** A sequence from the address, until it has been read. */
  #wanted: number | null;
  readonly #closing = new AbortController();

  constructor(key: string, wantedSeq: number | null) {
    this.key = key;
    this.#wanted = wantedSeq;
    void this.#run();
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
    try {
      await this.#read(0);
      this.isRead.value = true;
      const after = this.timeline.commits.at(-1)?.seq ?? 0;
      for await (const item of client.events({ key: this.key, after, signal })) {
        const last = this.timeline.commits.at(-1)?.seq ?? 0;
        if ('rev' in item && item.seq > last) await this.#read(last);
      }
    } catch (error) {
      if (!signal.aborted) this.problem.value = problemOf(error);
    }
  }

  async #read(after: number): Promise<void> {
    let begun = performance.now();
    for await (const commit of client.sessions.export(this.key, { after, signal: this.#closing.signal })) {
      this.#add(commit);
      if (performance.now() - begun < sliceMs) continue;
      this.#show();
      await breathe();
      begun = performance.now();
    }
    this.#show();
  }

  #add(commit: LogEntry): void {
    this.timeline.add(commit);
    if (this.#wanted === null || commit.seq < this.#wanted) return;
    this.chosen.value = this.timeline.countAt(this.#wanted);
    this.#wanted = null;
  }

  #show(): void {
    this.count.value = this.timeline.commits.length;
  }
}
