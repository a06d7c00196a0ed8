/**
 * Codes an operation may fail with for reasons outside the domain. They are part of the API: a code never changes meaning.
 *
 * - `invalid`: the input is wrong; `field` names the part and the message says how to mend it.
 * - `not_found`: there is no such thing, or the caller may not see it.
 * - `erased`: it was there, and what was in it is removed for good (C9).
 * - `unauthorized`: no token, or not one of ours.
 * - `forbidden`: the caller may see this and may not do that to it.
 * - `send_denied`: the send policy does not let anything be sent here; the message names its rule.
 * - `too_large`: over a byte limit.
 * - `overloaded`: a bounded queue is full; try again after `retryAfterMs`.
 * - `unavailable`: the broker does not answer; nothing was lost; try again after `retryAfterMs`.
 * - `log_regressed`: the event log is shorter than a sequence we have seen (I13); writes stay stopped until an operator acts.
 * - `quarantined`: this session's history cannot be folded; other sessions are not affected.
 * - `unsupported`: a broker, file or version we do not work with.
 */
export type ErrorCode =
  | 'invalid'
  | 'not_found'
  | 'erased'
  | 'unauthorized'
  | 'forbidden'
  | 'send_denied'
  | 'too_large'
  | 'overloaded'
  | 'unavailable'
  | 'log_regressed'
  | 'quarantined'
  | 'unsupported';

/** An expected failure that crosses one boundary. `field` is a dotted path into the input when `code` is `invalid`. */
export class NatterError extends Error {
  override name = 'NatterError';
  readonly code: ErrorCode;
  readonly field?: string;
  readonly retryAfterMs?: number;

  constructor(code: ErrorCode, message: string, options: { field?: string; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    if (options.field !== undefined) this.field = options.field;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}

/** True for a `NatterError` with this code. */
export const hasCode = (error: unknown, code: ErrorCode): boolean => error instanceof NatterError && error.code === code;

/** The message of anything that was thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
