import { NatterError } from '../../kit/errors.ts';

/** What a leader read says of a write whose outcome is not known. `open`: it is not there and may be made again. */
export type WriteState = { readonly kind: 'ours'; readonly seq: number } | { readonly kind: 'open' } | { readonly kind: 'taken' };

export interface FencedWrite {
  /** Sends it once. `unknown`: a conflict, or no answer in time. Rejects with `NatterError` when it cannot have happened. */
  send(): Promise<number | 'unknown'>;
  /** Reads from the leader what became of it. */
  resolve(): Promise<WriteState>;
  /** For messages, such as `write the custody log`. */
  readonly doing: string;
}

const attempts = 3;

/**
 * Makes one write whose outcome may be ambiguous. Resolves with its sequence, or with `null` when its fence does not hold. A conflict and a
 * time-out leave the outcome open: the leader then tells, and what is not there is sent again, at most three times in all (F14).
 * Rejects with `NatterError`.
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
