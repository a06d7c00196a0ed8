import type { Commit } from '../../../shared/domain/session/envelope.ts';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage, isUnreadable } from '../../../shared/kit/errors.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';

/** What became of a commit. `fenced`: another host wrote first. `uncommitted`: still unknown after `patienceMs`; the state in memory may be wrong. */
export type CommitResult =
  | { readonly kind: 'committed'; readonly seq: number; readonly recordedAt: number; readonly digest: string }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'uncommitted'; readonly cause: string };

export interface CommitOptions {
  readonly clock: Clock;
  /** How long an unknown outcome is worked on before giving up, ms. */
  readonly patienceMs: number;
  /** Off only in tests that prove what the fence is for: then the commit is written regardless of what the log holds. */
  readonly fencing: boolean;
  readonly signal: AbortSignal;
}

const retries = { firstMs: 5, mostMs: 500 };

/**
 * Appends one commit behind the fence (F3) and resolves unknown results: after a conflict, a timeout or a missing leader, the key's last
 * commit is read from the leader. If it is ours, it is committed; if it is another's, we are fenced; if nothing changed, the same commit is
 * tried again with the same expected sequence, so at most one copy can land.
 */
export const commitFenced = async (
  log: EventLog,
  commit: Commit,
  expectedSeq: number,
  options: CommitOptions,
): Promise<CommitResult> => {
  const { clock, signal } = options;
  const until = clock.monotonic() + options.patienceMs;
  let expected = options.fencing ? expectedSeq : ((await log.last(commit.key).catch(() => null))?.seq ?? 0);
  let cause = '';
  for (let attempt = 0; ; attempt += 1) {
    const result = await log.append(commit, expected);
    if (result.kind === 'stored') return { kind: 'committed', seq: result.seq, recordedAt: clock.now(), digest: result.digest };
    if (result.kind === 'refused') return result;
    cause = result.cause;
    try {
      const last = await log.last(commit.key);
      if (last?.id === commit.id) return { kind: 'committed', seq: last.seq, recordedAt: last.recordedAt, digest: last.digest };
      if ((last?.seq ?? 0) !== expected) {
        if (options.fencing) return { kind: 'fenced' };
        expected = last?.seq ?? 0;
      }
    } catch (error) {
      // The log holds something that cannot be read; loading the session again reports it.
      if (isUnreadable(error)) return { kind: 'fenced' };
      cause = errorMessage(error);
    }
    if (signal.aborted || clock.monotonic() >= until) return { kind: 'uncommitted', cause };
    await clock.sleep(backoffMs(retries, attempt), signal);
  }
};
