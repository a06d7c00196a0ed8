import { NatterApiError, type ProblemDetails, problemFrom } from './errors.ts';
import type { Frame } from './socket-frames.ts';

/** How many calls of one connection the gateway runs at a time. */
export const callsAtOnce = 32;
/** Maximum size of a frame in bytes. A larger one, or one that is not valid Unicode, would end the whole connection. */
export const frameBytes = 256 * 1024;
/** Methods that may be repeated. So may any call with an `idempotencyKey`. */
export const reading = [
  ...['hosts.list', 'skills.list', 'config.get', 'doctor.run', 'log.tail'],
  ...['sessions.list', 'approvals.list', 'memory.list', 'memory.get', 'deadLetters.list', 'deadLetters.get', 'pairing.list'],
  'messages.search',
  ...['deliveries.list', 'deliveries.delivered', 'deliveries.get'],
  ...['chat.history', 'agent.wait', 'status', 'sessions.read'],
];

/** Matches an unpaired surrogate as JSON.stringify writes it. */
const halfCharacter = /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/;

/** One call that has no answer yet. */
interface Waiting {
  readonly frame: string;
  /** True if it may be repeated on another connection. */
  readonly isRepeatable: boolean;
  isSent: boolean;
  /** Called synchronously when the answer arrives, because the next frames may depend on it. */
  settle(answer: { readonly result: unknown } | { readonly error: unknown }): void;
}

/** The calls of a `Connection`, across reconnects. */
export class Calls {
  readonly #waiting = new Map<number, Waiting>();
  readonly #send: (frame: string) => boolean;
  #count = 0;

  /** `send` returns true if there is a connection to send on. */
  constructor(send: (frame: string) => boolean) {
    this.#send = send;
  }

  /** Sends a call, now or once there is a connection. `settle` gets the outcome, once. Returns a function that drops the call. */
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
      return {
        code: 'too_large',
        detail: `params: more than ${frameBytes} bytes; call the same method over HTTP, with POST /v1/rpc`,
        field: 'params',
      };
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

  /** Sends all waiting calls on a new connection. */
  resume(): void {
    for (const call of this.#waiting.values()) call.isSent = this.#send(call.frame);
  }

  /** The connection was lost: fails the calls that were sent and may not be repeated, or with `all` every call. */
  lost(error: unknown, all = false): void {
    for (const [id, { isSent, isRepeatable, settle }] of this.#waiting) {
      if (!all && (isRepeatable || !isSent)) continue;
      this.#waiting.delete(id);
      settle({ error });
    }
  }
}
