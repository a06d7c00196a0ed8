import type { JetStreamClient, JetStreamPublishOptions } from '@nats-io/jetstream';
import { NatterError } from '../../kit/errors.ts';
import { failureOf, toNatterError } from './broker-errors.ts';

/** What a leader read says of a write whose outcome is not known. `open`: it is not there and may be made again. */
export type WriteState = { readonly kind: 'ours'; readonly seq: number } | { readonly kind: 'open' } | { readonly kind: 'taken' };

export interface FencedWrite {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly options: Partial<JetStreamPublishOptions>;
  /** Reads from the leader what became of the write. */
  resolve(): Promise<WriteState>;
  /** For messages, such as `write a lease`. */
  readonly doing: string;
}

const attempts = 3;

/**
 * Publishes one message to a stream. Resolves with its sequence, or with `null` when its fence does not hold. A conflict and a time-out
 * leave the outcome open: the leader then tells, and what is not there is sent again, at most three times in all (§5, fencing). Rejects
 * with `NatterError`.
 */
export const publishFenced = async (client: JetStreamClient, write: FencedWrite): Promise<number | null> => {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      return (await client.publish(write.subject, write.bytes, write.options)).seq;
    } catch (error) {
      const failure = failureOf(error);
      if (failure !== 'conflict' && failure !== 'unknown') throw toNatterError(error, write.doing);
    }
    const state = await write.resolve();
    if (state.kind === 'ours') return state.seq;
    if (state.kind === 'taken') return null;
  }
  throw new NatterError('unavailable', `the broker could not ${write.doing} in ${attempts} attempts`, { retryAfterMs: 1_000 });
};
