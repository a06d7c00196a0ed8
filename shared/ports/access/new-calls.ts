import type { CallAttempt } from '../../domain/session/repeats/asked-calls.ts';

/**
 * Calls that begin a session of their own, each known by a key. A client's retry finds the key of its first attempt at any gateway
 * (D9). Durable, for `limits.askedCallMs`.
 */
export interface NewCalls {
  /** `fresh` for a first attempt; for a retry, or an attempt that its own retry has overtaken, the key of the call that it repeats. */
  keyOf(call: CallAttempt, fresh: string): Promise<string>;
}
