import { NatterApiError, type ProblemDetails, problemFrom } from './errors.ts';
import type { Frame } from './socket-frames.ts';

/** Calls of one connection that the gateway makes at a time. */
export const callsAtOnce = 32;
/** Bytes of a frame that it takes. One that is larger, or no Unicode, would end the connection and all that it carries. */
export const frameBytes = 256 * 1024;
/** What may be asked twice, beside what has an `idempotencyKey`. */
export const reading = ['sessions.list', 'approvals.list', 'memory.list', 'memory.get', 'chat.history', 'agent.wait', 'status'];

/** Half of a surrogate pair, as JSON.stringify writes it. */
const halfCharacter = /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/;

/** One call that has no answer yet. */
interface Waiting {
  readonly frame: string;
  /** It may be asked again on another connection. */
  readonly isRepeatable: boolean;
  isSent: boolean;
  /** Takes the answer in the very step in which it comes: what follows it on the connection may depend on it. */
  settle(answer: { readonly result: unknown } | { readonly error: unknown }): void;
}

/** The calls of a connection, which may be several connections one after another. */
export class Calls {
  readonly #waiting = new Map<number, Waiting>();
  readonly #send: (frame: string) => boolean;
  #count = 0;

  /** `send` returns whether there is a connection to send on. */
  constructor(send: (frame: string) => boolean) {
    this.#send = send;
  }

  /** Asks, now or once there is a connection; `settle` gets what comes of it, once. Gives the way to forget it. */
  ask(method: string, params: object, settle: Waiting['settle']): () => void {
    this.#count += 1;
    const id = this.#count;
    const frame = JSON.stringify({ type: 'req', id, method, params });
    const isRepeatable = ('idempotencyKey' in params && params.idempotencyKey !== undefined) || reading.includes(method);
    const problem = this.#problemOf(frame);
    if (problem !== null) {
      settle({ error: new NatterApiError(0, problem) });
      return () => {};
    }
    this.#waiting.set(id, { frame, isRepeatable, isSent: this.#send(frame), settle });
    return () => void this.#waiting.delete(id);
  }

  #problemOf(frame: string): ProblemDetails | null {
    if (new TextEncoder().encode(frame).length > frameBytes)
      return { code: 'too_large', detail: `params: more than ${frameBytes} bytes`, field: 'params' };
    if (halfCharacter.test(frame))
      return { code: 'invalid', detail: 'params: has a broken surrogate pair; send whole characters', field: 'params' };
    if (this.#waiting.size < callsAtOnce) return null;
    return { code: 'overloaded', detail: `this connection makes ${callsAtOnce} calls already; wait for one of them` };
  }

  answered(frame: Extract<Frame, { type: 'res' }>): void {
    const call = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    call?.settle(frame.ok ? { result: frame.result } : { error: new NatterApiError(0, problemFrom(frame.error)) });
  }

  /** There is a connection: sends what waits for one. */
  resume(): void {
    for (const call of this.#waiting.values()) call.isSent = this.#send(call.frame);
  }

  /** The connection is gone. What may not be asked again hears so; `all`: everything does. */
  lost(error: unknown, all = false): void {
    for (const [id, { isSent, isRepeatable, settle }] of this.#waiting) {
      if (!all && (isRepeatable || !isSent)) continue;
      this.#waiting.delete(id);
      settle({ error });
    }
  }
}
