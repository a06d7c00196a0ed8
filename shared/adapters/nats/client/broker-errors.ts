import { JetStreamApiError, JetStreamStatusError, jserrors } from '@nats-io/jetstream/internal';
import { errors } from '@nats-io/transport-node';
import { type ErrorCode, errorMessage, NatterError } from '../../../kit/errors.ts';

/**
 * Classifies errors of the NATS client. The only place that knows the server's codes and the client's classes.
 *
 * - `unknown`: the request was sent; only a leader read can tell whether it took effect.
 * - `unavailable`: no leader, no JetStream, or no connection; retry.
 * - `conflict`: another writer was first, or our own earlier attempt (10071, 10164): read from the leader to tell.
 * - `empty`: no such message; `missing`: no such stream or consumer.
 * - `full`: a limit on storage or on messages; `too_large`: this message is over a limit.
 * - `unsupported`: a broker, or a stream on it, that we cannot work with.
 * - `forbidden`: credentials or permissions; `closed`: we closed the connection; `other`: a bug or something new.
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
  [10201, 'conflict'], // a message id of the batch is stored already, or twice in it; nothing of the batch is stored
  [10158, 'unknown'], // the same message id is being written now
  [10176, 'unknown'], // a batch is incomplete: a message did not arrive, was too large or was forbidden; nothing of it is stored
  [10008, 'unavailable'], // JetStream system temporarily unavailable
  [10009, 'unavailable'], // not the leader
  [10039, 'unavailable'], // JetStream not enabled for the account
  [10076, 'unavailable'], // JetStream not enabled
  [10163, 'unavailable'], // the last sequence of the subject is unknown at the moment
  [10004, 'unavailable'], // incomplete results
  [10005, 'unavailable'], // no suitable peers: the cluster is starting
  [10167, 'unavailable'], // too many requests
  [10118, 'unavailable'], // the stream is offline
  [10194, 'unavailable'], // the same, with a reason
  [10119, 'unavailable'], // the consumer is offline
  [10195, 'unavailable'], // the same, with a reason
  [10037, 'empty'], // no message found
  [10059, 'missing'], // stream not found
  [10014, 'missing'], // consumer not found
  [10060, 'missing'], // another stream was expected
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
  [10174, 'unsupported'], // the stream has no batches
  [10177, 'unsupported'], // batches take no message ids (2.12.0)
  [10199, 'unsupported'], // more messages in a batch than the broker allows
]);

/** Classifies an error thrown by the client. */
export const failureOf = (error: unknown): BrokerFailure => {
  if (error instanceof JetStreamApiError) return failureByApiCode.get(error.code) ?? failureOfStore(error);
  if (error instanceof JetStreamStatusError) return failureOfStatus(error.code);
  if (error instanceof jserrors.JetStreamNotEnabled || nobodyListens(error)) return 'unavailable';
  if (error instanceof errors.TimeoutError) return 'unknown';
  if (refusalIn(error) !== null) return 'forbidden';
  // The connection broke while the request was under way.
  if (error instanceof errors.RequestError) return 'unknown';
  if (error instanceof errors.ConnectionError) return 'unavailable';
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError) return 'closed';
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) return 'forbidden';
  if (error instanceof errors.InvalidArgumentError && /max_payload/.test(error.message)) return 'too_large';
  return 'other';
};

/** True if a request reached nobody, so that it may be sent again. */
export const nobodyListens = (error: unknown): boolean =>
  error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders());

/** The refused subject, if that is why the call failed: a request wraps it. */
const refusalIn = (error: unknown): PermissionViolation | null => {
  const cause = error instanceof errors.RequestError ? error.cause : error;
  return cause instanceof errors.PermissionViolationError ? cause : null;
};
type PermissionViolation = InstanceType<typeof errors.PermissionViolationError>;

/** What the broker's user may not do, with the fix. */
export const permissionProblem = ({ operation, subject, message }: PermissionViolation): string =>
  subject === ''
    ? `the broker refused: ${message}`
    : `the broker's user may not ${operation === 'publish' ? 'publish' : 'subscribe'} to "${subject}"; give it that right at the broker`;

/**
 * True when the message to delete does not exist. The broker reports that in three ways; the last one means that the stream is
 * shorter.
 */
export const isGone = (error: unknown): boolean =>
  error instanceof JetStreamApiError && (error.code === 10043 || /no message found|stream store EOF/.test(error.message));

/**
 * 10077 means that storing failed: over a limit nothing was written; after a disk error the outcome is unknown. 10049 means that a
 * stream could not be created: for want of its store perhaps only now, because one of the same name is still being removed.
 */
const failureOfStore = ({ code, message }: JetStreamApiError): BrokerFailure => {
  if (code === 10049) return /creating store/.test(message) ? 'unavailable' : 'other';
  if (code !== 10077) return 'other';
  return /maximum .* exceeded/.test(message) ? 'full' : 'unknown';
};

/** Pulls and direct gets answer with a status instead of an error document. */
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
  // Our own rights at the broker: the caller's token is fine.
  forbidden: 'unavailable',
  closed: 'unavailable',
  other: 'unavailable',
};

/** When a retry makes sense: an election takes 4 to 8 s, a restart less than one. */
const retryAfterMs = 2_000;

/** Converts anything thrown by a NATS call to a `NatterError`. `doing` is the action, such as `publish a command`. */
export const toNatterError = (error: unknown, doing: string): NatterError => {
  if (error instanceof NatterError) return error;
  const failure = failureOf(error);
  const code = codeOf[failure];
  const again = code === 'unavailable' || code === 'overloaded' ? { retryAfterMs } : {};
  return new NatterError(code, `the broker could not ${doing}: ${describe(failure, error)}`, { cause: error, ...again });
};

/** Waits for an answer of the broker. Rejects as `toNatterError` says. */
export const orNatterError = async <T>(doing: string, answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    throw toNatterError(error, doing);
  }
};

const describe = (failure: BrokerFailure, error: unknown): string => {
  if (failure === 'unknown') return 'no answer in time; it may have happened';
  if (failure === 'unavailable') return `not available now (${errorMessage(error)})`;
  if (failure === 'full') return `${errorMessage(error)}; free space on the disk of the broker, or raise its limit`;
  const refusal = refusalIn(error);
  return refusal === null ? errorMessage(error) : permissionProblem(refusal);
};

/** Causes of a connection that fails, by the code of Node's or OpenSSL's error: in words, and the fix. The broker's alerts are about us. */
const causes: readonly (readonly [code: RegExp, problem: string, fix: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/,
    'its certificate is signed by an authority that is not known here',
    'set nats.tls.caFile to the certificate of that authority',
  ],
  [
    /ALTNAME_INVALID/,
    'its certificate is for another host',
    'use a name of the certificate in nats.url, or a certificate for this name',
  ],
  [/^CERT_HAS_EXPIRED/, 'its certificate has expired', 'renew the certificate of the broker'],
  [/^CERT_NOT_YET_VALID/, 'its certificate is not valid yet', 'check the clocks, or the certificate of the broker'],
  [/ALERT_CERTIFICATE_REQUIRED/, 'it requires a certificate of the client', 'set nats.tls.certFile and nats.tls.keyFile'],
  [
    /ALERT_(UNKNOWN_CA|CERTIFICATE_\w+|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED|HANDSHAKE_FAILURE)/,
    'it refuses the certificate of the client, or has none',
    'use a nats.tls.certFile that is valid and signed by an authority the broker trusts',
  ],
  [/PROTOCOL_VERSION|WRONG_VERSION_NUMBER/, 'no common version of TLS', 'use TLS 1.2 or newer on both sides'],
];

/** Why a connection to the broker failed, in words, with the fix where it is not to start the broker. */
export const connectionFailure = (error: unknown): string => {
  const message = errorMessage(error);
  if (error instanceof errors.UserAuthenticationExpiredError || /authentication expired/i.test(message))
    return 'its credentials for us have expired; renew them at the broker';
  if (error instanceof errors.AuthorizationError)
    return `it refuses our credentials (${message}); correct nats.token, nats.credsFile, nats.nkeySeedFile or the password in nats.url`;
  if (error instanceof errors.TimeoutError) return 'no answer in time';
  if (message === "server does not support 'tls'")
    return 'it does not speak TLS; turn TLS on at the broker, or use nats:// without nats.tls';
  const code = codeIn(error);
  const known = causes.find(([shape]) => shape.test(code));
  // OpenSSL's messages are for its authors.
  return known === undefined ? message.trim() : `${known[1]} (${/error:/.test(message) ? code : message}); ${known[2]}`;
};

/** The code of an error or of its cause. */
const codeIn = (error: unknown): string => {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('code' in each && typeof each.code === 'string') return each.code;
  return '';
};
