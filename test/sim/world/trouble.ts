import {
  type CallOutcome,
  type Fault,
  type Faults,
  type FaultyCall,
  SeededFaults,
} from '../../../shared/adapters/in-memory/faults.ts';
import type { Random } from '../random.ts';
import type { FaultRates } from './options.ts';

/** The faults of one part of the broker: by chance, and all of it away during an outage. Healed, it only delays. */
export class Trouble implements Faults {
  readonly #seeded: SeededFaults;
  /** How often each fault happened. */
  readonly counts: Partial<Record<`${FaultyCall} ${Fault}`, number>> = {};
  outage: 'unavailable' | 'request_lost' | null = null;

  constructor(random: Random, rates: FaultRates, maxDelayMs: number, maxLateMs: number) {
    this.#seeded = new SeededFaults({ random: random.next, rates, maxDelayMs, maxLateMs });
  }

  next(call: FaultyCall): CallOutcome {
    const drawn = this.#seeded.next(call);
    const fate = this.outage === null ? drawn : { ...drawn, fault: this.outage };
    if (fate.fault !== 'none') {
      const name = `${call} ${fate.fault}` as const;
      this.counts[name] = (this.counts[name] ?? 0) + 1;
    }
    return fate;
  }

  heal(): void {
    this.outage = null;
    this.#seeded.heal();
  }
}
