import type { Clock } from '../../kit/clock.ts';
import type { QueuedMessage, QueueMember } from './queue-member.ts';

const sweepMs = 2_000;

/**
 * Completed messages of one partition that are still stored. The member that acknowledged one removes them all a moment later, if
 * it is alive (ADR 9).
 */
export class InMemoryDoneMessages<T> {
  readonly #clock: Clock;
  #messages: QueuedMessage[] = [];
  #sweeper: QueueMember<T> | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#messages.length;
  }

  keep(message: QueuedMessage, by: QueueMember<T>): void {
    this.#messages.push(message);
    if (this.#sweeper === by) return;
    this.#sweeper = by;
    void this.#clock.sleep(sweepMs).then(() => {
      if (this.#sweeper !== by) return;
      this.#sweeper = null;
      if (by.state === 'live') this.#messages = [];
    });
  }

  /** Takes all of them out, oldest first, as not done. */
  forget(): QueuedMessage[] {
    return this.#messages.splice(0);
  }

  /** Removes those of a subject up to a sequence, and returns their number. */
  remove(subject: string, upTo: number): number {
    const before = this.#messages.length;
    this.#messages = this.#messages.filter((message) => message.subject !== subject || message.seq > upTo);
    return before - this.#messages.length;
  }
}
