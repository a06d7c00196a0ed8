import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Run } from '../../../../../shared/domain/projections/run.ts';
import type { Logger } from '../../../../../shared/kit/log.ts';
import { logFailure, type Problem, problemFrom } from '../../../http/problem.ts';
import type { ErrorFormat } from '../../../operation/route.ts';
import { openAiError } from './results.ts';

/** Errors in OpenAI's shape, so that its clients raise their own error classes. `docs/integrate/openai-api.md` lists the codes. */

export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  /** The wrong part of the body, such as `messages[0].content`, or a header's name. */
  readonly param: string | null;
  readonly code: string;
}

/** A refusal of this interface, or a run that has ended without an answer. */
export class Failure extends Error {
  override name = 'Failure';
  readonly status: number;
  readonly code: string;
  readonly param: string | null;

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** A person has to answer first, who does not use this interface. */
export const approvalRequired = (approvalId: string, what: string): Failure => {
  const where = `POST /v1/approvals/${approvalId} {"verdict": "allow-once"}, or "natter approvals resolve ${approvalId} allow-once"`;
  return new Failure(409, 'approval_required', `a person has to answer approval ${approvalId}; ${what}: ${where}`);
};

const typeOf = (status: number): string => {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
};

/** Names that OpenAI's clients know already. */
const knownCodes: Readonly<Record<string, string>> = {
  unauthorized: 'invalid_api_key',
  unsupported: 'unsupported_parameter',
  overloaded: 'rate_limit_exceeded',
};

/** `messages.0.content` as OpenAI writes it. */
const paramOf = (field: string): string => field.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]');

/** `retryAfterMs`: it may be retried later; `isOurs`: an internal error, to be logged. */
export interface Told {
  readonly status: number;
  readonly error: OpenAiError;
  readonly retryAfterMs?: number | undefined;
  readonly isOurs: boolean;
}

export const toldOf = (thrown: unknown, requestId: string): Told => {
  if (thrown instanceof Failure) {
    const { status, code, param, message } = thrown;
    return { status, error: { message, type: typeOf(status), param, code }, isOurs: false };
  }
  const problem: Problem = problemFrom(thrown, requestId);
  const { status, detail, field, code, retryAfterMs } = problem;
  const param = field === undefined ? null : paramOf(field);
  return {
    status,
    error: { message: detail, type: typeOf(status), param, code: knownCodes[code] ?? code },
    retryAfterMs,
    isOurs: code === 'internal',
  };
};

/** The failure of a run, with a status that makes clients retry only if the queue was full. */
export const failureOfRun = ({ error: { code, message } }: Extract<Run, { status: 'error' }>): Failure => {
  if (code === 'queue_full' || code === 'session_busy' || code === 'overloaded') return new Failure(429, code, message);
  if (code === 'aborted' || code === 'duplicate_message' || code === 'session_deleted') return new Failure(409, code, message);
  if (code === 'too_large') return new Failure(413, code, message);
  if (code === 'tool_name_taken') return new Failure(400, code, message, 'tools');
  if (code === 'setting_unsupported') return new Failure(400, 'unsupported_parameter', message, 'logit_bias');
  if (code === 'model_rate_limited') return new Failure(429, code, message);
  return new Failure(code === 'unavailable' ? 503 : 500, code, message);
};

/**
 * Answers any error of these routes. The official clients retry by themselves; a header stops them where a retry would be a second message or
 * the same failure again. With an `Idempotency-Key`, a call with an open outcome may be retried.
 */
const openAiErrors =
  (log: Logger) =>
  (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { status, error, retryAfterMs, isOurs } = toldOf(thrown, request.id);
    if (status >= 500) logFailure(log, thrown, request, isOurs);
    const isOpen = status === 504 || !(thrown instanceof Failure);
    const mayRepeat = isOpen && (request.headers['idempotency-key'] !== undefined || status < 500);
    if (request.method === 'POST' && !mayRepeat) reply.header('x-should-retry', 'false');
    if (status === 401) reply.header('www-authenticate', 'Bearer realm="natter"');
    if (retryAfterMs !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1_000)));
    reply.code(status).send({ error });
  };

/** How the errors of these routes look. */
export const errors: ErrorFormat = {
  name: 'OpenAiError',
  description: "An error in OpenAI's shape",
  ...{ schema: openAiError, statuses: [], handler: openAiErrors },
};
