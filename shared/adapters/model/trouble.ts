import type { APICallError } from 'ai';
import { errorMessage } from '../../kit/errors.ts';

/** Why a model step failed (`docs/use/models.md`). The codes are part of the log: a code never changes its meaning. */
export type TroubleCode =
  | 'model_auth'
  | 'model_rate_limited'
  | 'model_unavailable'
  | 'model_timeout'
  | 'model_bad_request'
  | 'context_overflow'
  | 'model_invalid_answer'
  | 'output_too_large'
  | 'model_refused'
  | 'model_unknown'
  | 'setting_unsupported'
  | 'model_error';

/** A failed step, before it becomes an outcome. */
export class ModelTrouble extends Error {
  override name = 'ModelTrouble';
  readonly code: TroubleCode;
  /** A retry may help. */
  readonly again: boolean;
  /** The delay that the provider asks for. */
  readonly afterMs: number | undefined;

  constructor(
    code: TroubleCode,
    message: string,
    { again = false, afterMs }: { again?: boolean; afterMs?: number | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.again = again;
    this.afterMs = afterMs;
  }
}

/** Classifies anything that the SDK throws or puts into its stream. `now`: ms since 1970, for dates in headers. */
export const troubleOf = async (error: unknown, now: number): Promise<ModelTrouble> => {
  if (error instanceof ModelTrouble) return error;
  // The SDK is loaded only where there is a provider.
  const sdk = await import('ai');
  if (sdk.APICallError.isInstance(error)) return ofCall(error, now);
  const invalidAnswers = [
    ...[sdk.JSONParseError, sdk.TypeValidationError],
    ...[sdk.InvalidResponseDataError, sdk.EmptyResponseBodyError],
  ];
  if (invalidAnswers.some((kind) => kind.isInstance(error))) return new ModelTrouble('model_invalid_answer', errorMessage(error));
  // A provider that fails in the middle of its answer sends an error body as an event of the stream.
  const inBand = factsIn(error);
  return inBand.message === undefined
    ? new ModelTrouble('model_error', errorMessage(error))
    : ofFacts(inBand, undefined, undefined);
};

const ofCall = (error: APICallError, now: number): ModelTrouble => {
  const { statusCode: status, message } = error;
  if (status === undefined || (status < 400 && error.isRetryable)) {
    return new ModelTrouble('model_unavailable', message, { again: true });
  }
  if (status < 400) return new ModelTrouble('model_invalid_answer', `${message}: ${errorMessage(error.cause)}`);
  const body = parsed(error.responseBody);
  // If the first piece of a stream is invalid, the SDK reports a failed call with its own error as the body.
  if (/^AI_/.test(String(body?.name))) return new ModelTrouble('model_invalid_answer', message);
  return ofFacts({ ...factsIn(body), message }, status, retryAfterMs(error.responseHeaders ?? {}, now));
};

/** A provider's error description; all dialects use `message`, `type` and `code`. */
interface Facts {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string | number;
}
const factsIn = (value: unknown): Facts => {
  if (typeof value !== 'object' || value === null) return {};
  const { error, message, type, code } = value as Record<string, unknown>;
  if (typeof error === 'object' && error !== null) return factsIn(error);
  return {
    ...(typeof message === 'string' && { message }),
    ...(typeof type === 'string' && { type }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
  };
};
const parsed = (text = ''): Record<string, unknown> | null => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const ofFacts = (facts: Facts, http: number | undefined, afterMs: number | undefined): ModelTrouble => {
  // The SDK reports status 500 for an error in the first piece of a stream; its type is more precise.
  const status = http === undefined || http >= 500 ? (statusIn(facts) ?? http) : http;
  const message = status === undefined ? (facts.message ?? '') : `HTTP ${status}: ${facts.message}`;
  const again = status !== undefined && (status >= 500 || [408, 409, 425, 429].includes(status));
  return new ModelTrouble(codeOf(status, facts), message, { again, afterMs });
};

const statusIn = ({ type, code }: Facts): number | undefined =>
  typeof code === 'number' && code >= 400 && code < 600 ? code : (statuses.get(type ?? '') ?? statuses.get(String(code)));

/** The error names of both wire formats. */
const statuses = new Map([
  ['invalid_request_error', 400],
  ['context_length_exceeded', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['api_error', 500],
  ['server_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

const codeOf = (status: number | undefined, facts: Facts): TroubleCode => {
  if (status === undefined) return isOverflow(facts) ? 'context_overflow' : 'model_error';
  if (status === 401 || status === 402 || status === 403) return 'model_auth';
  if (status === 404) return 'model_unknown';
  if (status === 429) return 'model_rate_limited';
  if (status >= 500 || status === 408 || status === 409 || status === 425) return 'model_unavailable';
  return isOverflow(facts) ? 'context_overflow' : 'model_bad_request';
};

/** The ways providers say that the conversation exceeds the window. */
const overflow =
  /context[ _-]?(?:length|window|size)|(?:prompt|input|request|conversation)(?: is|_| )+too[ _](?:long|large)|maximum (?:prompt|context) length|token count\D{0,40}\d+\D{0,40}exceeds|reduce the length of/i;
const isOverflow = ({ message, type, code }: Facts): boolean => overflow.test(`${type} ${code} ${message?.slice(0, 4_000)}`);

/** `Retry-After` in both of its forms, and the finer `retry-after-ms`. */
const retryAfterMs = (headers: Readonly<Record<string, string>>, now: number): number | undefined => {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (ms >= 0) return ms;
  const after = headers['retry-after'] ?? '';
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(after)) return Number.parseFloat(after) * 1_000;
  const at = Date.parse(after);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
};
