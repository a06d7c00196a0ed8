/** Bounds of the delays between attempts. */
export interface Backoff {
  /** The delay after the first failure. */
  readonly firstMs: number;
  /** The longest delay. */
  readonly mostMs: number;
}

/** More doublings than any bound needs; unlimited ones would end in `Infinity`. */
const doublingsMax = 30;

/** Milliseconds to wait before the next attempt: `firstMs` for `failures` = 0, doubled for each further consecutive failure. */
export const backoffMs = ({ firstMs, mostMs }: Backoff, failures: number): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(failures, doublingsMax));

/**
 * A random delay between half of `ms` and `ms`, with `random` in 0..1, so that clients that failed together do not retry
 * together.
 */
export const jittered = (ms: number, random: number): number => ms * (0.5 + random / 2);
