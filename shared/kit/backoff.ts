/** The bounds of the waits between attempts. */
export interface Backoff {
  /** The wait after the first failure. */
  readonly firstMs: number;
  /** No wait is longer. */
  readonly mostMs: number;
}

/** More doublings than any bound needs; without a limit a long row of failures would end in `Infinity`. */
const doublingsMax = 30;

/** Milliseconds to wait after `failures` failures that came before the last one: 0 gives `firstMs`, and each further one doubles the wait. */
export const backoffMs = ({ firstMs, mostMs }: Backoff, failures: number): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(failures, doublingsMax));

/** Half of a wait and a random share of the other half, `random` in 0..1: those that failed together do not all come back together. */
export const jittered = (ms: number, random: number): number => ms * (0.5 + random / 2);
