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

/** A fork: the sequence of its commit, and where it goes on from. */
export interface RecordedFork {
  readonly seq: number;
  readonly base: ForkBase;
}

/** Whether forks, oldest first, have left a commit behind. Those after it tell: no commit but theirs is needed. */
export const isLeftBy = (forks: readonly RecordedFork[], seq: number): boolean =>
  forks.reduce<number | undefined>((before, fork) => leftByAfter(fork.base, fork.seq)(seq, before), undefined) !== undefined;

export const leftText = 'A fork left this commit behind: the agent goes on without it.';
