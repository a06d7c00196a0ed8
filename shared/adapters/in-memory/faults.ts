/** What may go wrong with one call to the log. All but `none` and `stale` leave a writer without an answer. */
export type Fault =
  | 'none'
  /** Nothing was done, and the caller learns it at once: no leader, no connection. */
  | 'unavailable'
  /** Nothing was done; the caller times out. */
  | 'request_lost'
  /** It was done; the caller times out. */
  | 'answer_lost'
  /** It is done after the caller has timed out: a buffered or paused connection (F14). */
  | 'landed_late'
  /** A message of a group did not arrive: nothing of the group is stored, and the caller learns it at once. Affects only groups. */
  | 'incomplete'
  /** Answered by a replica that lags by some messages. Affects only reads of a replicated log. */
  | 'stale';

/** Faults with which a call for one message does what it should. */
export const arrives: ReadonlySet<Fault> = new Set(['none', 'stale', 'incomplete']);

/** The simulated outcome of one call. */
export interface CallOutcome {
  readonly fault: Fault;
  /** How long the call takes to reach the log. */
  readonly delayMs: number;
  /** `landed_late`: how long after the caller's timeout. */
  readonly lateMs: number;
  /** `stale`: how many of the newest messages are missing. */
  readonly behind: number;
}
/** `group`: several appends in one call. */
export type FaultyCall = 'append' | 'group' | 'last' | 'read' | 'info' | 'publish' | 'acknowledge';

/** Chooses the outcome of each call, in the order of the calls. */
export interface Faults {
  next(call: FaultyCall): CallOutcome;
}

const healthy: CallOutcome = { fault: 'none', delayMs: 0, lateMs: 0, behind: 0 };

/** Every call succeeds at once. */
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

/** The probability of each fault; their sum is at most 1, and the rest is healthy. */
type FaultRates = Readonly<Partial<Record<Exclude<Fault, 'none'>, number>>>;

export interface SeededFaultsOptions {
  readonly random: () => number;
  readonly rates: FaultRates;
  /** Longest delay before a call reaches the log. */
  readonly maxDelayMs: number;
  /** Longest delay of a late write. */
  readonly maxLateMs: number;
}

/** Random faults, reproducible from the seed of `random`. After `heal` no call fails; delays stay. */
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
