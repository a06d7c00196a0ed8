/** One problem with a call. `field` names the parameter, header or part of the body. */
export interface ProblemItem {
  readonly field?: string;
  readonly detail: string;
}
/** Why the gateway cannot serve now: a code of docs/operate/operations.md, and what to do about it. */
export interface UnavailableReason {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}
/** Problem details (RFC 9457) with the gateway's own fields. `problems` and `details` come from `/readyz`. */
export interface ProblemDetails {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly message?: string;
  readonly field?: string;
  readonly problems?: readonly string[];
  readonly details?: readonly UnavailableReason[];
  readonly problem?: string;
  readonly fix?: string;
  readonly retryAfterMs?: number;
  readonly requestId?: string;
}

/**
 * The gateway refused, or did not answer. Decide by `code`: one from docs/integrate/http-api.md, or one of the client's own:
 * `unreachable` (no answer), `timeout` (no answer in time), `unexpected` (an answer that is not a gateway's) or `closed` (the
 * connection was closed here). `status` is the HTTP status, or 0 if there was none.
 */
export class NatterApiError extends Error {
  override name = 'NatterApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly ProblemItem[];
  /** Why it is `unavailable`, where the gateway knows; else empty. */
  readonly reasons: readonly UnavailableReason[];
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, problem: ProblemDetails, options?: ErrorOptions) {
    const { code = 'unexpected', title = '', field, problems = [], details = [], requestId, retryAfterMs } = problem;
    const detail = problem.detail ?? problem.message ?? (problems.join('; ') || title || `the gateway answered ${status}`);
    super(detail, options);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = field === undefined ? problems.map((each) => ({ detail: each })) : [{ field, detail }];
    this.reasons = problem.problem === undefined ? details : [{ code: problem.problem, message: detail, fix: problem.fix ?? '' }];
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
  }
}

/** Codes of errors that may go away when the call is repeated later. */
const laterCodes = ['unreachable', 'timeout', 'overloaded', 'unavailable'];

/** True for errors that a retry may fix: "later", and a proxy's 5xx answers (such as 502 and 504) while the gateway is down. */
export const isTransient = (error: unknown): error is NatterApiError => {
  if (!(error instanceof NatterApiError)) return false;
  const { status, code } = error;
  return laterCodes.includes(code) || status === 429 || (status >= 500 && code !== 'internal');
};

/** The error for an address that did not answer. */
export const unreachable = (url: string, cause: unknown): NatterApiError => {
  // The error of `fetch` has no details, but its cause does. A name may have several addresses, each with its own failure.
  const failure = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const [first = failure] = failure instanceof AggregateError ? failure.errors : [];
  const reason = first instanceof Error ? first.message : String(first ?? '');
  return new NatterApiError(
    0,
    { code: 'unreachable', detail: `no answer from ${url} (${reason || 'no reason given'})` },
    { cause },
  );
};

/** The error for a response that started but did not finish. */
export const brokenOff = (cause: unknown): NatterApiError =>
  new NatterApiError(0, { code: 'unreachable', detail: 'the answer broke off' }, { cause });

/** Builds the error from an error response and its text. */
export const problemIn = ({ status, statusText, headers, type }: Response, text: string): NatterApiError => {
  const told = problemFrom(json(text));
  const retryAfterMs = told.retryAfterMs ?? waitIn(headers.get('retry-after'));
  const title = told.title ?? `the gateway answered ${status} ${statusText}`.trim();
  const problem = { ...told, title, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  // A browser reveals only that this is a redirect, not where it leads.
  const leads = type === 'opaqueredirect' ? 'another address' : headers.get('location');
  if (leads === null || told.code !== undefined) return new NatterApiError(status, problem);
  return new NatterApiError(status, {
    ...problem,
    detail: `this address leads to ${leads}, where the token is not sent; give that one`,
  });
};

/** The problem fields of a JSON value. Other fields are dropped, because proxies in between answer in formats of their own. */
export const problemFrom = (value: unknown): ProblemDetails => {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(
    fields.filter(([name, part]) => {
      if (name === 'retryAfterMs') return Number.isFinite(part) && part >= 0;
      if (name === 'problems') return Array.isArray(part) && part.every((each) => typeof each === 'string');
      if (name === 'details') return Array.isArray(part) && part.every(isReason);
      return typeof part === 'string';
    }),
  );
};

const isReason = (value: unknown): value is UnavailableReason =>
  typeof value === 'object' &&
  value !== null &&
  ['code', 'message', 'fix'].every((name) => typeof Reflect.get(value, name) === 'string');

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** The delay in a Retry-After header (RFC 9110, 10.2.3), given in seconds or as a date. */
const waitIn = (header: string | null): number | undefined => {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? ms : undefined;
};
