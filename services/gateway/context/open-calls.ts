import { type Clock, untilBeat } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Callers, TokenBearer } from './callers.ts';

/** How often it is asked whether those who are in may stay, ms. */
const askMs = 500;

/** A call in progress. `ended` aborts with a `NatterError('unauthorized')` once its token is no longer valid. */
export interface OpenCall {
  readonly ended: AbortSignal;
  /** Call this when the call is over. */
  over(): void;
}

/** All calls in progress, including streams and waits: a token that is revoked, expired or changed ends them within a second (I12). */
export class OpenCalls {
  readonly #callers: Callers;
  readonly #clock: Clock;
  readonly #open = new Map<AbortController, TokenBearer>();
  readonly #closing = new AbortController();
  readonly #asking: Promise<void>;

  constructor(callers: Callers, clock: Clock) {
    this.#callers = callers;
    this.#clock = clock;
    this.#asking = this.#ask();
  }

  begin(caller: TokenBearer): OpenCall {
    const controller = new AbortController();
    this.#open.set(controller, caller);
    return { ended: controller.signal, over: () => void this.#open.delete(controller) };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      for (const [controller, caller] of this.#open) {
        const problem = this.#callers.problemOf(caller);
        if (problem === null) continue;
        this.#open.delete(controller);
        controller.abort(new NatterError('unauthorized', problem));
      }
      await this.#clock.sleep(untilBeat(this.#clock, askMs), signal);
    }
  }
}
