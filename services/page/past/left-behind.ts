import type { LogEntry } from '../../../shared/client/main.ts';
import { type ForkBase, skipsOf } from '../../../shared/domain/values/fork-base.ts';

/** The sequences of commits that forks left behind, each with that of its fork. */
export type LeftBehind = ReadonlyMap<number, number>;

type Commit = Pick<LogEntry, 'seq' | 'events'>;

/**
 * Which fork has left something behind, after one at sequence `place`: what an earlier one left behind is not left behind again. Before what
 * the agent reads from then on, all stays as it was (B21). What a fork's own commit ends, such as a running answer, has that fork as `before`.
 */
export const leftByAfter = (base: ForkBase, place: number): ((seq: number, before: number | undefined) => number | undefined) => {
  const skips = skipsOf(base, place);
  return (seq, before) => {
    if (seq < base.contextSeq) return before;
    const isLeft = skips.some(({ after, until }) => seq > after && (seq < until || (seq === until && before === until)));
    return isLeft ? (before ?? place) : undefined;
  };
};

/** What is left behind after a commit, which may be a fork. */
export const leftAfter = (left: LeftBehind, { seq: place, events }: Commit, commits: readonly Commit[]): LeftBehind => {
  const base = events.find((event) => event.type === 'session_reset')?.forkedFrom;
  if (base === undefined) return left;
  const leftBy = leftByAfter(base, place);
  return new Map(
    commits.flatMap(({ seq }): [number, number][] => {
      const fork = leftBy(seq, left.get(seq));
      return fork === undefined ? [] : [[seq, fork]];
    }),
  );
};
