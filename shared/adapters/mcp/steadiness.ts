import { backoffMs } from '../../kit/backoff.ts';

/** Milliseconds that a connection must last to be believed: after one loss, and the most; one that lasts for so long makes up for all losses. */
const steady = { firstMs: 5_000, mostMs: 600_000 };

/**
 * Whether a connection that is lost again and again is believed to be back: the more often it was lost, the longer it must last. So it is
 * one problem, not one that comes and goes. All times are of a monotonic clock, ms.
 */
export class Steadiness {
  #losses = 0;
  #since = 0;

  connected(at: number): void {
    this.#since = at;
  }

  lost(at: number): void {
    this.#losses = at - this.#since >= steady.mostMs ? 0 : this.#losses + 1;
  }

  isBelieved(at: number): boolean {
    return this.#losses === 0 || at - this.#since >= backoffMs(steady, this.#losses - 1);
  }
}
