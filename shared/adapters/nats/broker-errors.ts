import { JetStreamApiError, JetStreamStatusError, jserrors } from '@nats-io/jetstream/internal';
import { errors } from '@nats-io/transport-node';
import { type ErrorCode, errorMessage, NatterError } from '../../kit/errors.ts';

/**
 * What an error of the NATS client means for the caller. One place knows the codes of the server and the classes of the client.
 *
 * - `unknown`: the request was sent; whether it took effect only a leader read can tell.
 * - `unavailable`: no leader, no JetStream, or no connection; ask again.
 * - `conflict`: somebody else wrote first, or our own earlier attempt did (10071, 10164): read the leader to tell.
 * - `empty`: there is no such message; `missing`: there is no such stream or consumer.
 * - `full`: a limit on storage or on messages; `too_large`: this message is over a limit.
 * - `unsupported`: the broker, or a stream on it, is not one we can work with.
 * - `forbidden`: credentials or rights; `closed`: we closed the connection; `other`: a bug or something new.
 */
export type BrokerFailure =
  | 'unknown'
  | 'unavailable'
  | 'conflict'
  | 'empty'
  | 'missing'
  | 'full'
  | 'too_large'
  | 'unsupported'
  | 'forbidden'
  | 'closed'
  | 'other';

const failureByApiCode: ReadonlyMap<number, BrokerFailure> = new Map([
  [10071, 'conflict'], // wrong last sequence
  [10164, 'conflict'], // wrong last sequence, while another write is in flight (replicated streams)
  [10158, 'unknown'], // the same message id is being written now
  [10008, 'unavailable'], // JetStream system temporarily unavailable
  [10009, 'unavailable'], // not the leader
  [10039, 'unavailable'], // JetStream not enabled for the account
  [10076, 'unavailable'], // JetStream not enabled
  [10163, 'unavailable'], // the last sequence of the subject cannot be told now
  [10004, 'unavailable'], // incomplete results
  [10005, 'unavailable'], // no suitable peers: a cluster that is starting
  [10167, 'unavailable'], // too many requests
  [10118, 'unavailable'], // the stream is offline
  [10194, 'unavailable'], // the same, with a reason
  [10119, 'unavailable'], // the consumer is offline
  [10195, 'unavailable'], // the same, with a reason
  [10037, 'empty'], // no message found
  [10059, 'missing'], // stream not found
  [10014, 'missing'], // consumer not found
  [10060, 'missing'], // the expected stream is another one
  [10002, 'full'], // resource limits of the account
  [10023, 'full'], // insufficient resources
  [10028, 'full'], // memory resources exceeded
  [10047, 'full'], // storage resources exceeded
  [10053, 'full'], // limits of the stream
  [10026, 'full'], // maximum consumers
  [10027, 'full'], // maximum streams
  [10054, 'too_large'], // over the stream's maximum message size
  [10097, 'too_large'], // headers over the maximum
  [10052, 'unsupported'], // a setting the broker does not accept
  [10074, 'unsupported'], // replicas without a cluster
  [10166, 'unsupported'], // the stream has no per-message time to live
  [10185, 'unsupported'], // the broker is too old for a setting
  [10188, 'unsupported'], // the stream has no schedules
]);

/** Tells what an error thrown by the client means. */
export const failureOf = (error: unknown): BrokerFailure => {
  if (error instanceof JetStreamApiError) return failureByApiCode.get(error.code) ?? failureOfStore(error);
  if (error instanceof JetStreamStatusError) return failureOfStatus(error.code);
  if (error instanceof jserrors.JetStreamNotEnabled || error instanceof errors.NoRespondersError) return 'unavailable';
  if (error instanceof errors.TimeoutError) return 'unknown';
  // Either nobody listened, or the connection went away while the request was on its way.
  if (error instanceof errors.RequestError) return error.isNoResponders() ? 'unavailable' : 'unknown';
  if (error instanceof errors.ConnectionError) return 'unavailable';
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError) return 'closed';
  if (
    error instanceof errors.AuthorizationError ||
    error instanceof errors.PermissionViolationError ||
    error instanceof errors.UserAuthenticationExpiredError
  )
    return 'forbidden';
  if (error instanceof errors.InvalidArgumentError && /max_payload/.test(error.message)) return 'too_large';
  return 'other';
};

/** True when the message that was to be deleted is not there. The broker has three words for that; the last: the stream does not reach so far. */
export const isGone = (error: unknown): boolean =>
  error instanceof JetStreamApiError && (error.code === 10043 || /no message found|stream store EOF/.test(error.message));

/** 10077 says that storing failed: over a limit nothing was written; after an error of the disk nobody knows. */
const failureOfStore = ({ code, message }: JetStreamApiError): BrokerFailure => {
  if (code !== 10077) return 'other';
  return /maximum .* exceeded/.test(message) ? 'full' : 'unknown';
};

/** A pull or a direct get answers with a status instead of an error document. */
const failureOfStatus = (status: number): BrokerFailure => {
  if (status === 404) return 'empty';
  return status === 408 || status === 409 || status === 503 ? 'unavailable' : 'other';
};

const codeOf: Readonly<Record<BrokerFailure, ErrorCode>> = {
  unknown: 'unavailable',
  unavailable: 'unavailable',
  conflict: 'unavailable',
  empty: 'not_found',
  missing: 'unavailable',
  full: 'overloaded',
  too_large: 'too_large',
  unsupported: 'unsupported',
  forbidden: 'unauthorized',
  closed: 'unavailable',
  other: 'unavailable',
};

/** Time after which asking again makes sense: an election takes 4 to 8 s, a restart under one. */
const retryAfterMs = 2_000;

/** Turns anything a NATS call threw into a `NatterError`. `doing` says what was tried, such as `publish a command`. */
export const toNatterError = (error: unknown, doing: string): NatterError => {
  if (error instanceof NatterError) return error;
  const failure = failureOf(error);
  const code = codeOf[failure];
  const again = code === 'unavailable' || code === 'overloaded' ? { retryAfterMs } : {};
  return new NatterError(code, `the broker could not ${doing}: ${describe(failure, error)}`, { cause: error, ...again });
};

const describe = (failure: BrokerFailure, error: unknown): string => {
  if (failure === 'unknown') return 'no answer in time; it may have happened';
  if (failure === 'unavailable') return `not available now (${errorMessage(error)})`;
  return errorMessage(error);
};
