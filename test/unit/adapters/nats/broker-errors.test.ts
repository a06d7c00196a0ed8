import { JetStreamApiError, jserrors } from '@nats-io/jetstream/internal';
import { errors } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { failureOf, toNatterError } from '../../../../shared/adapters/nats/client/broker-errors.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';

const api = (err_code: number, description = 'text') => new JetStreamApiError({ code: 400, err_code, description });

const wrapped = new errors.RequestError('x', { cause: new errors.PermissionViolationError('x', 'publish', 'a.b') });

describe('what an error of the client means', () => {
  test.each([
    ['a time-out', new errors.TimeoutError(), 'unknown', 'unavailable'],
    ['a request on a connection that broke', new errors.RequestError('connection disconnected'), 'unknown', 'unavailable'],
    ['the same message id being written', api(10158), 'unknown', 'unavailable'],
    ['a stream without a store', api(10049, 'error creating store for stream'), 'unavailable', 'unavailable'],
    ['a stream that cannot be', api(10049, 'subjects overlap'), 'other', 'unavailable'],
    ['a store that failed', api(10077, 'write failed: input/output error'), 'unknown', 'unavailable'],
    ['nobody who answers', new errors.NoRespondersError('x'), 'unavailable', 'unavailable'],
    ['JetStream without a leader', new jserrors.JetStreamNotEnabled('x'), 'unavailable', 'unavailable'],
    ['a cluster in election', api(10008), 'unavailable', 'unavailable'],
    ['a wrong last sequence', api(10071), 'conflict', 'unavailable'],
    ['a write in flight', api(10164), 'conflict', 'unavailable'],
    ['no message', api(10037), 'empty', 'not_found'],
    ['no stream', api(10059), 'missing', 'unavailable'],
    ['no consumer', api(10014), 'missing', 'unavailable'],
    ['a full disk', api(10047), 'full', 'overloaded'],
    ['a stream at its limit', api(10077, 'maximum messages exceeded'), 'full', 'overloaded'],
    ['a message over the stream limit', api(10054), 'too_large', 'too_large'],
    [
      'a payload over the limit',
      new errors.InvalidArgumentError("'payload' max_payload size exceeded"),
      'too_large',
      'too_large',
    ],
    ['replicas without a cluster', api(10074), 'unsupported', 'unsupported'],
    ['wrong credentials', new errors.AuthorizationError('x'), 'forbidden', 'unavailable'],
    ['a refused subject', new errors.PermissionViolationError('x', 'publish', 'a.b'), 'forbidden', 'unavailable'],
    ['the same in a request', wrapped, 'forbidden', 'unavailable'],
    ['a connection we closed', new errors.ClosedConnectionError(), 'closed', 'unavailable'],
    ['anything else', new Error('x'), 'other', 'unavailable'],
  ] as const)('%s', (_, error, failure, code) => {
    expect(failureOf(error)).toBe(failure);
    expect(toNatterError(error, 'do it')).toMatchObject({ code, cause: error });
  });

  test('an outage says when to try again, a refusal does not', () => {
    expect(toNatterError(new errors.TimeoutError(), 'do it').retryAfterMs).toBeGreaterThan(0);
    expect(toNatterError(api(10054), 'do it').retryAfterMs).toBeUndefined();
  });

  test('a refused subject is named, with the fix', () => {
    expect(toNatterError(wrapped, 'publish a command').message).toBe(
      'the broker could not publish a command: the broker\'s user may not publish to "a.b"; give it that right at the broker',
    );
  });

  test('an error of ours goes through as it is', () => {
    const ours = new NatterError('invalid', 'x');
    expect(toNatterError(ours, 'do it')).toBe(ours);
  });
});
