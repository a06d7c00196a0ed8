/** What may go wrong with one call to the log. All but `none` and `stale` leave a writer without an answer. */
export type Fault =
  | 'none'
  /** Nothing was done and the caller is told so at once: no leader, no connection. */
  | 'unavailable'
  /** Nothing was done; the caller waits in vain. */
  | 'request_lost'
  /** It was done; the caller waits in vain. */
  | 'answer_lost'
  /** It is done after the caller has given up: a buffered or paused connection (F14). */
  | 'landed_late'
  /** A replica answers that is some messages behind. Concerns reads of a replicated log alone. */
  | 'stale';

/** The fate of one call. */
export interface CallOutcome {
  readonly fault: Fault;
  /** How long the call takes to get to the log. */
  readonly delayMs: number;
  /** `landed_late`: how much later than the caller's time-out. */
  readonly lateMs: number;
  /** `stale`: how many of the newest messages are not seen. */
  readonly behind: number;
}
export type FaultyCall = 'append' | 'last' | 'read' | 'info' | 'publish' | 'acknowledge';

/** Chooses the fate of each call, in the order of the calls. */
export interface Faults {
  next(call: FaultyCall): CallOutcome;
}

const healthy: CallOutcome = { fault: 'none', delayMs: 0, lateMs: 0, behind: 0 };

/** Everything works, at once. */
export const noFaults: Faults = { next: () => healthy };

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
};

/** How often each fault happens, from 0 to 1 together; the rest is healthy. */
type FaultRates = Readonly<Partial<Record<Exclude<Fault, 'none'>, number>>>;

export interface SeededFaultsOptions {
  readonly random: () => number;
  readonly rates: FaultRates;
  /** Longest way to the log. */
  readonly maxDelayMs: number;
  /** Longest time by which a late request is late. */
  readonly maxLateMs: number;
}

/** Faults at random, reproducible from the seed behind `random`. Once `heal` was called nothing fails any more; delays stay. */
export class SeededFaults implements Faults {
  readonly #options: SeededFaultsOptions;
  #healed = false;

  constructor(options: SeededFaultsOptions) {
    this.#options = options;
  }

  next(_call: FaultyCall): CallOutcome {
    const { random, maxDelayMs, maxLateMs } = this.#options;
    const delayMs = Math.floor(random() * (maxDelayMs + 1));
    const lateMs = Math.floor(random() * (maxLateMs + 1));
    const behind = 1 + Math.floor(random() * 8);
    return { fault: this.#draw(), delayMs, lateMs, behind };
  }

  heal(): void {
    this.#healed = true;
  }

  #draw(): Fault {
    let rest = this.#options.random();
    if (this.#healed) return 'none';
    for (const [fault, rate] of Object.entries(this.#options.rates) as [Fault, number][]) {
      if (rest < rate) return fault;
      rest -= rate;
    }
    return 'none';
  }
}
