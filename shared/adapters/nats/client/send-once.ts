import { failureOf, toNatterError } from './broker-errors.ts';
import type { ReplyInbox, RequestOptions, Stored } from './reply-inbox.ts';

/** The header with the sequence that a write was fenced with. */
export const fenceHeader = 'Nats-Expected-Last-Subject-Sequence';

/**
 * Headers of a fenced write: it succeeds only if the last message of `subject`, which may have wildcards, still has this
 * sequence; 0: there is none.
 */
export const onlyAfter = (subject: string, seq: number): Record<string, string> => ({
  [fenceHeader]: String(seq),
  [`${fenceHeader}-Subject`]: subject,
});

/**
 * Publishes to a stream once, for `writeFenced`. Resolves with the sequence, or `unknown` after a conflict or timeout. Rejects
 * with `NatterError`.
 */
export const sendOnce = async (
  inbox: ReplyInbox,
  subject: string,
  bytes: Uint8Array,
  options: RequestOptions,
  doing: string,
): Promise<number | 'unknown'> => {
  try {
    return (await inbox.ask<Stored>(subject, bytes, options)).seq;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === 'conflict' || failure === 'unknown') return 'unknown';
    throw toNatterError(error, doing);
  }
};
