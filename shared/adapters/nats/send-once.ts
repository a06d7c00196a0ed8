import type { JetStreamClient, JetStreamPublishOptions } from '@nats-io/jetstream';
import { failureOf, toNatterError } from './broker-errors.ts';

/** Publishes to a stream once, for `writeFenced`: the sequence, or `unknown` after a conflict or a time-out. Rejects with `NatterError`. */
export const sendOnce = async (
  client: JetStreamClient,
  subject: string,
  bytes: Uint8Array,
  options: Partial<JetStreamPublishOptions>,
  doing: string,
): Promise<number | 'unknown'> => {
  try {
    return (await client.publish(subject, bytes, options)).seq;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === 'conflict' || failure === 'unknown') return 'unknown';
    throw toNatterError(error, doing);
  }
};
