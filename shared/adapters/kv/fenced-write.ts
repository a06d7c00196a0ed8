import { NatterError } from '../../kit/errors.ts';

/** The outcome of an ambiguous write, according to the leader. `open`: it did not happen and may be sent again. */
export type WriteState = { readonly kind: 'ours'; readonly seq: number } | { readonly kind: 'open' } | { readonly kind: 'taken' };

export interface FencedWrite {
  /**
   * Sends the write once. `unknown`: a conflict, or no answer in time. Rejects with `NatterError` when it cannot have happened.
   */
  send(): Promise<number | 'unknown'>;
  /** Reads the outcome from the leader. */
  resolve(): Promise<WriteState>;
  /** The action in error messages, such as `write the custody log`. */
  readonly doing: string;
}

const attempts = 3;

/**
 * Makes one fenced write whose outcome may be ambiguous. Resolves with its sequence, or with `null` when the fence does not hold.
 * After a conflict or timeout it asks the leader, and sends a missing write again, at most three times in all (F14). Rejects with
 * `NatterError`.
 */
export const writeFenced = async ({ send, resolve, doing }: FencedWrite): Promise<number | null> => {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const sent = await send();
    if (sent !== 'unknown') return sent;
    const state = await resolve();
    if (state.kind === 'ours') return state.seq;
    if (state.kind === 'taken') return null;
  }
  throw new NatterError('unavailable', `the broker could not ${doing} in ${attempts} attempts`, { retryAfterMs: 1_000 });
};
