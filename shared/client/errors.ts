/** One thing that is wrong with a call; `field` names the parameter, header or part of the body. */
export interface ProblemItem {
  readonly field?: string;
  readonly detail: string;
}
/** RFC 9457, as far as the gateway fills it in. `problems` is what `/readyz` says. */
export interface ProblemDetails {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly message?: string;
  readonly field?: string;
  readonly errors?: readonly ProblemItem[];
  readonly problems?: readonly string[];
  readonly retryAfterMs?: number;
  readonly requestId?: string;
}

/**
 * The gateway said no, or nobody answered. Decide by `code`: those of docs/http-api.md, and three of the client's own: `unreachable` (no
 * answer came), `timeout` (not in time) and `unexpected` (an answer that is none of the gateway's). `status` is HTTP's; 0: none came by HTTP.
 */
export class NatterApiError extends Error {
  override name = 'NatterApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly ProblemItem[];
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, problem: ProblemDetails, options?: ErrorOptions) {
    const { code = 'unexpected', title = '', field, problems = [], requestId, retryAfterMs } = problem;
    const detail = problem.detail ?? problem.message ?? (problems.join('; ') || title || `the gateway answered ${status}`);
    super(detail, options);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = problem.errors ?? (field === undefined ? problems.map((each) => ({ detail: each })) : [{ field, detail }]);
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
  }
}

/** "Later", and what a proxy says while the gateway behind it is away. */
const laterStatus = [429, 502, 503, 504];

/** True of what the same call may get another answer to, a little later. */
export const isTransient = (error: unknown): error is NatterApiError =>
  error instanceof NatterApiError &&
  (laterStatus.includes(error.status) || ['unreachable', 'timeout', 'overloaded', 'unavailable'].includes(error.code));

/** That no answer came from an address, and why. */
export const unreachable = (url: string, cause: unknown): NatterApiError => {
  // What `fetch` throws says nothing; its cause does. One address may be several, each with a failure of its own.
  const failure = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const [first = failure] = failure instanceof AggregateError ? failure.errors : [];
  const reason = first instanceof Error ? first.message : String(first ?? '');
  return new NatterApiError(
    0,
    { code: 'unreachable', detail: `no answer from ${url} (${reason || 'no reason given'})` },
    { cause },
  );
};

/** The problem that a response carries. Reads its body. */
export const problemIn = async (response: Response): Promise<NatterApiError> => {
  const problem = parsed(await response.text().catch(() => ''));
  const retryAfter = Number(response.headers.get('retry-after'));
  const retryAfterMs = problem.retryAfterMs ?? (retryAfter > 0 ? retryAfter * 1_000 : undefined);
  const title = problem.title ?? `the gateway answered ${response.status} ${response.statusText}`.trim();
  return new NatterApiError(response.status, { ...problem, title, ...(retryAfterMs !== undefined && { retryAfterMs }) });
};

const parsed = (text: string): ProblemDetails => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
};
