import type { LogEntry } from '../../../shared/client/main.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import { type ForkBase, skipsOf } from '../../../shared/domain/values/fork-base.ts';
import { asSentence } from '../parts/one-line.ts';
import { isRestart, leaverWords } from '../parts/reset-words.ts';

/** The sequences of commits that were left behind, each with that of the fork or the reset that did it. */
export type LeftBehind = ReadonlyMap<number, number>;

type Commit = Pick<LogEntry, 'seq' | 'events'>;
type LeftBy = (seq: number, before: number | undefined) => number | undefined;

/**
 * What has left something behind, after a fork at sequence `place`: what an earlier one left behind is not left behind again, nor is what one
 * of `resets` had ended, those of the conversation before the fork, oldest first. Before what the agent reads from then on, all stays as it
 * was (B21). What a fork's own commit ends, such as a running answer, has that fork as `before`.
 */
const leftByFork = (base: ForkBase, place: number, resets: readonly number[]): LeftBy => {
  const skips = skipsOf(base, place);
  return (seq, before) => {
    if (seq < base.contextSeq) return before;
    const isLeft = skips.some(({ after, until }) => seq > after && (seq < until || (seq === until && before === until)));
    return isLeft ? (before ?? resets.find((reset) => reset > seq) ?? place) : undefined;
  };
};

/** The same after a reset that begins again from the first message: all of the conversation until then. */
const leftByRestart = (place: number, resets: readonly number[]): LeftBy => {
  const begun = resets.at(-1) ?? 0;
  return (seq, before) => before ?? (seq < begun ? undefined : place);
};

/** Whether what was said is left behind: by a fork, or by a reset that begins again from the first message. */
export const branchesOff = (event: EventOf<'session_reset'>): boolean => event.forkedFrom !== undefined || isRestart(event);

/** What has left something behind after such an event. */
export const leftByAfter = ({ forkedFrom }: EventOf<'session_reset'>, place: number, resets: readonly number[]): LeftBy =>
  forkedFrom ? leftByFork(forkedFrom, place, resets) : leftByRestart(place, resets);

const endIn = ({ events }: Pick<Commit, 'events'>) =>
  events.find((event) => event.type === 'session_reset' || event.type === 'session_deleted');

/** The sequences at which resets and deletions ended the conversation that goes on, as far as they were not left behind; oldest first. */
export const resetsAmong = (commits: readonly Commit[], left: LeftBehind): number[] =>
  commits.flatMap((commit) => {
    const end = endIn(commit);
    const isEnd = end !== undefined && !(end.type === 'session_reset' && end.forkedFrom);
    return isEnd && !left.has(commit.seq) ? [commit.seq] : [];
  });

/** What is left behind after a commit, by what was left before it. */
export const leftAfter = (left: LeftBehind, commit: Commit, commits: readonly Commit[]): LeftBehind => {
  const reset = commit.events.find((event) => event.type === 'session_reset');
  if (reset === undefined || !branchesOff(reset)) return left;
  const before = commits.filter(({ seq }) => seq < commit.seq);
  const leftBy = leftByAfter(reset, commit.seq, resetsAmong(before, left));
  return new Map(
    before.flatMap(({ seq }): [number, number][] => {
      const leaver = leftBy(seq, left.get(seq));
      return leaver === undefined ? [] : [[seq, leaver]];
    }),
  );
};

/** What a commit that left something behind was, in words. */
export const leaverOf = (commit: Pick<Commit, 'events'> | undefined): string => {
  const end = commit && endIn(commit);
  return end ? leaverWords(end) : '';
};

/** What has left the commit at a sequence behind, in words, by the session's resets after it, oldest first; empty: nothing has. */
export const leaverAmong = (resets: readonly Commit[], seq: number): string => {
  const commits: readonly Commit[] = [{ seq, events: [] }, ...resets.filter((reset) => reset.seq > seq)];
  const left = commits.reduce<LeftBehind>((before, commit) => leftAfter(before, commit, commits), new Map());
  return leaverOf(commits.find((commit) => commit.seq === left.get(seq)));
};

export const leftText = (leaver: string): string =>
  `${asSentence(leaver)} left this commit behind: the agent goes on without it.`;
