import { type Clock, untilBeat } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { Ending } from '../../../shared/kit/signal.ts';
import type { Callers, TokenBearer } from './callers.ts';

/** How often it is asked whether those who are in may stay, ms. */
const askMs = 500;

/** A call in progress. `ended` aborts with a `NatterError('unauthorized')` once its token is no longer valid. */
export interface OpenCall {
  readonly ended: Ending;
  /** Call this when the call is over. */
  over(): void;
}

/** All calls in progress, including streams and waits: a token that is revoked, expired or changed ends them within a second (I12). */
export class OpenCalls {
  readonly #callers: Callers;
  readonly #clock: Clock;
  readonly #open = new Map<Ending, TokenBearer>();
  readonly #closing = new AbortController();
  readonly #asking: Promise<void>;

  constructor(callers: Callers, clock: Clock) {
    this.#callers = callers;
    this.#clock = clock;
    this.#asking = this.#ask();
  }

  begin(caller: TokenBearer): OpenCall {
    const ended = new Ending();
    this.#open.set(ended, caller);
    return { ended, over: () => void this.#open.delete(ended) };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      for (const [ended, caller] of this.#open) {
        const problem = this.#callers.problemOf(caller);
        if (problem === null) continue;
        this.#open.delete(ended);
        ended.abort(new NatterError('unauthorized', problem));
      }
      await this.#clock.sleep(untilBeat(this.#clock, askMs), signal);
    }
  }
}
