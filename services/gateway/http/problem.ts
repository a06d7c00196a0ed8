import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { RefusalCode } from '../../../shared/domain/session/decide/index.ts';
import type { ErrorCode } from '../../../shared/kit/errors.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { HealthCode, HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { Logger } from '../../../shared/kit/log.ts';

/** The one place where codes become HTTP (RFC 9457). A code never changes meaning; `docs/integrate/http-api.md` lists them all. */

/** The gateway's own codes and those of the domain's refusals, beside the codes of `NatterError`. */
export type ProblemCode =
  | ErrorCode
  | RefusalCode
  | 'unsupported_media_type'
  | 'request_timeout'
  | 'headers_too_large'
  | 'refused'
  | 'history_too_long'
  | 'introspection_disabled'
  | 'not_resendable'
  | 'internal';

const table: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = {
  invalid: [400, 'The request is not valid'],
  unsupported: [400, 'Not supported'],
  unauthorized: [401, 'No valid token'],
  forbidden: [403, 'Not allowed'],
  send_denied: [403, 'The send policy denies this'],
  not_found: [404, 'Not found'],
  request_timeout: [408, 'The request took too long to arrive'],
  quarantined: [409, 'The session is quarantined'],
  damaged: [409, 'The history of the session is damaged'],
  refused: [409, 'The session refuses this now'],
  session_busy: [409, 'The session is busy'],
  fork_invalid: [409, 'The session cannot be forked there'],
  not_damaged: [409, 'The session is not damaged'],
  session_retained: [409, 'The session is retained'],
  introspection_disabled: [409, 'Checkpoints are disabled here'],
  not_resendable: [409, 'This dead letter cannot be sent again'],
  session_unknown: [404, 'There is no such session yet'],
  stop_forbidden: [403, 'What runs there is not yours to stop'],
  not_queued: [409, 'The message does not wait in the queue'],
  results_forbidden: [403, 'The calls are not yours to answer'],
  results_unexpected: [409, 'Nothing waits for these results'],
  results_incomplete: [400, 'A call has no result'],
  approval_forbidden: [403, 'The approval is not yours to answer'],
  approval_unknown: [404, 'There is no such approval'],
  approval_resolved: [409, 'The approval was answered already'],
  approval_expired: [410, 'The approval has expired'],
  erased: [410, 'Erased'],
  precondition_failed: [412, 'The session has moved'],
  too_large: [413, 'Too large'],
  unsupported_media_type: [415, 'Send JSON'],
  history_too_long: [422, 'The history is too long for this'],
  overloaded: [429, 'Too much at once'],
  headers_too_large: [431, 'The request headers are too large'],
  internal: [500, 'Something broke on our side'],
  unavailable: [503, 'Not available now'],
  log_regressed: [503, 'Writing is stopped'],
};
/** All codes, and the HTTP status of each. */
export const problemStatus = Object.fromEntries(Object.entries(table).map(([code, [status]]) => [code, status])) as Readonly<
  Record<ProblemCode, number>
>;

/** The `Retry-After` of errors that do not have one of their own. */
const defaultRetryMs = 1_000;

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(table, code);

/** A command that the session refused. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: ProblemCode;

  constructor(code: string, message: string) {
    super(message);
    this.code = isProblemCode(code) ? code : 'refused';
  }
}

/** An error in the shape of RFC 9457. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  /** Dotted path of the wrong part of the body, or the name of the query parameter or header. */
  readonly field?: string;
  /** Why it is `unavailable`, as in `/readyz`, and what to do about it. */
  readonly problem?: HealthCode;
  readonly fix?: string;
  readonly retryAfterMs?: number;
  readonly requestId: string;
}

export const problemOf = (
  code: ProblemCode,
  detail: string,
  requestId: string,
  more: { field?: string | undefined; retryAfterMs?: number | undefined; problem?: HealthProblem | undefined } = {},
): Problem => {
  const [status, title] = table[code];
  const retryAfterMs = more.retryAfterMs ?? (status === 429 || status === 503 ? defaultRetryMs : undefined);
  return {
    type: `urn:natter:problem:${code}`,
    title,
    status,
    code,
    detail,
    ...(more.field !== undefined && { field: more.field }),
    ...(more.problem !== undefined && { problem: more.problem.code, fix: more.problem.fix }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    requestId,
  };
};

export const sendProblem = (reply: FastifyReply, problem: Problem): FastifyReply => {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="natter"');
  if (problem.retryAfterMs !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(problem.retryAfterMs / 1_000)));
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
};

/** The server framework's own refusals, by its codes. */
const frameworkProblems: Readonly<Record<string, readonly [ProblemCode, string, string?]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'the body is larger than 256 kB; send less', 'body'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'send the body with "content-type: application/json"',
    'content-type',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'the body is not as long as "content-length" says', 'content-length'],
  FST_ERR_BAD_URL: ['invalid', 'the path is not valid percent-encoded UTF-8', 'key'],
};

/** An error as a problem. Unexpected errors become `internal` and reveal no details. */
export const problemFrom = (error: unknown, requestId: string): Problem => {
  if (error instanceof NatterError) return problemOf(error.code, error.message, requestId, error);
  if (error instanceof Refusal) return problemOf(error.code, error.message, requestId);
  const known = frameworkProblems[(error as Partial<FastifyError>).code ?? ''];
  if (known) return problemOf(known[0], known[1], requestId, { field: known[2] });
  const status = (error as Partial<FastifyError>).statusCode ?? 500;
  if (status < 500) return problemOf('invalid', error instanceof Error ? error.message : 'bad request', requestId);
  return problemOf('internal', 'an error of ours; the log has it under this request id', requestId);
};

/** Logs why a call is answered with a status of 5xx: an error of ours, or, as a warning, what cannot be served now. */
export const logFailure = (log: Logger, err: unknown, request: FastifyRequest, isOurs: boolean): void => {
  const facts = { err, requestId: request.id, method: request.method, route: request.routeOptions.url };
  if (isOurs) log.error(facts, 'request failed');
  else log.warn(facts, 'request not served');
};

/** Answers any error with a problem. Those of the caller are not logged. */
export const errorHandler =
  (log: Logger) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = problemFrom(error, request.id);
    if (problem.status >= 500) logFailure(log, error, request, problem.code === 'internal');
    sendProblem(reply, problem);
  };
