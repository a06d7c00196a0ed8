import { NatterError } from '../../../shared/kit/errors.ts';

/** Runs jobs one at a time in the order they came. Bounded: a full mailbox refuses with `overloaded`, it never grows (I11). */
export class Mailbox {
  readonly #limit: number;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Jobs that run or wait. */
  get size(): number {
    return this.#waiting;
  }

  /** Resolves or rejects as the job does. Rejects with `NatterError('overloaded')` when full. */
  run<T>(job: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#limit) {
      return Promise.reject(new NatterError('overloaded', `${this.#waiting} jobs are waiting already`, { retryAfterMs: 1_000 }));
    }
    this.#waiting++;
    const result = this.#tail.then(job).finally(() => {
      this.#waiting--;
    });
    this.#tail = result.catch(() => {});
    return result;
  }
}
