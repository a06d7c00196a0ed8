import type { SessionKey } from '../../domain/keys/session-key.ts';
import { afterCommitOf, type FoundRun, isOver, type Run, type TrackedRun, unknownRun } from '../../domain/projections/run.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import type { Clock } from '../../kit/clock.ts';
import { limits } from '../../kit/limits.ts';
import { orQuarantined } from '../../kit/or-quarantined.ts';
import type { Ports } from '../../ports/index.ts';

/**
 * Looks for a run after the sequence `oldest`: in the recent part of the history, and in all of it only if it is short. Ids can
 * be made up, and a long log is not read for that. Calls `each` with each commit read and the run after it.
 */
export const findRun = async (
  { events, snapshots }: Pick<Ports, 'events' | 'snapshots'>,
  key: SessionKey,
  runId: string,
  oldest = 0,
  each: (commit: RecordedCommit, found: TrackedRun) => void = () => {},
): Promise<FoundRun> => {
  const position = (await snapshots.get(key))?.position;
  const first = position?.window[0] ?? position?.seq ?? 1;
  const recent = Math.max(oldest, first - 1);
  const isShort = (position?.rev ?? 0) <= limits.runSearchCommits;
  const readAfter = async (after: number): Promise<FoundRun> => {
    let found = unknownRun(runId, after);
    for await (const commit of events.read(key, { after })) {
      found = { ...afterCommitOf(found, commit, runId), seq: commit.seq };
      each(commit, found);
    }
    return found;
  };
  const found = await orQuarantined(readAfter(recent));
  return found.run === null && recent > oldest && isShort ? orQuarantined(readAfter(oldest)) : found;
};

/** Follows the log until the run is over, or as far as wanted, for at most `waitMs`. Resolves with the run's last known state. */
export const followRun = async (
  clock: Clock,
  follow: (after: number, signal: AbortSignal) => AsyncIterable<RecordedCommit>,
  wait: {
    readonly runId: string;
    readonly found: FoundRun;
    readonly waitMs: number;
    readonly signal: AbortSignal;
    /** What is waited for. Default: that it is over. */
    readonly isEnough?: ((run: Run | null) => boolean) | undefined;
  },
): Promise<Run | null> => {
  const { isEnough = isOver } = wait;
  let known: TrackedRun = wait.found;
  if (isEnough(known.run)) return known.run;
  const expired = new AbortController();
  const signal = AbortSignal.any([wait.signal, expired.signal]);
  void clock.sleep(wait.waitMs, signal).then(() => expired.abort());
  try {
    for await (const commit of follow(wait.found.seq, signal)) {
      known = afterCommitOf(known, commit, wait.runId);
      if (isEnough(known.run)) break;
    }
    return known.run;
  } finally {
    // A reason of our own: the default would be an exception with a stack trace.
    expired.abort(null);
  }
};
