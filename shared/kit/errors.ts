import type { HealthProblem } from './health-problem.ts';

/**
 * Codes of expected failures outside the domain. They are part of the API: a code never changes its meaning.
 *
 * - `invalid`: the input is wrong; `field` names the part and the message says how to fix it.
 * - `not_found`: it does not exist, or the caller may not see it.
 * - `erased`: it existed, and its content has been removed for good (C9).
 * - `unauthorized`: the token is missing or unknown.
 * - `forbidden`: the caller may see this but may not do that to it.
 * - `send_denied`: the send policy forbids sending here; the message names the rule.
 * - `too_large`: over a byte limit.
 * - `overloaded`: a bounded queue is full; try again after `retryAfterMs`.
 * - `unavailable`: the broker does not answer; nothing was lost; try again after `retryAfterMs`.
 * - `log_regressed`: the event log is shorter than a sequence we have seen (I13); writes stay stopped until an operator acts.
 * - `quarantined`: this session's history cannot be folded; other sessions are not affected.
 * - `damaged`: the store has lost or changed commits of this session; it is read-only until a person decides (F13).
 * - `unsupported`: a broker, file or version that Natter does not work with.
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
  | 'damaged'
  | 'unsupported';

/**
 * An expected failure. It crosses at most one boundary. With code `invalid`, `field` is a dotted path into the input; `problem` is what
 * makes a call `unavailable`, where it is known.
 */
export class NatterError extends Error {
  override name = 'NatterError';
  readonly code: ErrorCode;
  readonly field?: string;
  readonly retryAfterMs?: number;
  readonly problem?: HealthProblem;

  constructor(
    code: ErrorCode,
    message: string,
    options: { field?: string; retryAfterMs?: number; problem?: HealthProblem; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    if (options.field !== undefined) this.field = options.field;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.problem !== undefined) this.problem = options.problem;
  }
}

/** True for a `NatterError` with this code. */
export const hasCode = (error: unknown, code: ErrorCode): boolean => error instanceof NatterError && error.code === code;

/** True when the history of one session cannot be read or folded: the others go on. */
export const isUnreadable = (error: unknown): boolean => hasCode(error, 'quarantined') || hasCode(error, 'damaged');

/** The message of anything that can be thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
