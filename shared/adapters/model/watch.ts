import type { Clock } from '../../kit/clock.ts';
import { ModelTrouble } from './trouble.ts';

/** Milliseconds. `connectMs` and `firstTokenMs` count from each request, `totalMs` from the start of the step. */
export interface Deadlines {
  readonly connectMs: number;
  readonly firstTokenMs: number;
  readonly idleTokenMs: number;
  readonly totalMs: number;
}

/** Watches a step: stops one that does not start, stalls or takes too long, and remembers which it was. */
export class Watch {
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #endsAt: number;
  readonly #abort = new AbortController();
  readonly #over = new AbortController();
  #connect = new AbortController();
  #token = new AbortController();

  constructor(clock: Clock, deadlines: Deadlines, outer: AbortSignal) {
    this.#clock = clock;
    this.#deadlines = deadlines;
    this.#endsAt = clock.monotonic() + deadlines.totalMs;
    outer.addEventListener('abort', () => this.#abort.abort(), { once: true, signal: this.#over.signal });
    if (outer.aborted) this.#abort.abort();
    void this.#arm(deadlines.totalMs, `no complete answer within ${deadlines.totalMs} ms`, this.#over.signal);
  }

  /** Aborts the step's work. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }
  /** Why the step was stopped, or `null`. */
  get stopped(): ModelTrouble | null {
    return this.signal.reason instanceof ModelTrouble ? this.signal.reason : null;
  }
  /** Milliseconds until the step must have ended. */
  get leftMs(): number {
    return this.#endsAt - this.#clock.monotonic();
  }

  /** A request is being sent. */
  asked(): void {
    const { connectMs, firstTokenMs } = this.#deadlines;
    this.rest();
    this.#connect = new AbortController();
    this.#token = new AbortController();
    void this.#arm(connectMs, `no answer to the request within ${connectMs} ms`, this.#connect.signal);
    void this.#arm(firstTokenMs, `no first token within ${firstTokenMs} ms`, this.#token.signal);
  }
  /** The response head has arrived. */
  connected(): void {
    this.#connect.abort();
  }
  /** A piece of the answer has arrived. */
  progressed(): void {
    const { idleTokenMs } = this.#deadlines;
    this.#token.abort();
    this.#token = new AbortController();
    void this.#arm(idleTokenMs, `no further token for ${idleTokenMs} ms`, this.#token.signal);
  }
  /** No request is in progress. */
  rest(): void {
    this.#connect.abort();
    this.#token.abort();
  }

  stop(trouble: ModelTrouble): void {
    this.#abort.abort(trouble);
  }
  end(): void {
    this.rest();
    this.#over.abort();
  }

  async #arm(ms: number, reason: string, cancelled: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, cancelled);
    if (!cancelled.aborted) this.stop(new ModelTrouble('model_timeout', reason));
  }
}
