import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../shared/kit/errors.ts';
import { fold, fromPlain, initialState, type PlainState, type SessionState, toPlain } from '../../../shared/session/evolve.ts';
import { type IndexRow, summarize } from '../../../shared/session/summary.ts';
import type { RecordedCommit } from '../../../shared/wire/envelope.ts';
import { byKey, type Checker, type History } from '../history.ts';

/** I4: the fold of the log, the states of live actors, snapshot + tail and the index are the same. */
export const foldIsLiveIsSnapshot: Checker = (history) =>
  [...byKey(history)].flatMap(([key, commits]) => {
    const states = replay(commits);
    if (typeof states === 'string') return [`${key}: ${states}`];
    const own = history.snapshots.filter((snapshot) => snapshot.key === key);
    return [
      ...own.flatMap(({ host, state }) => differences(state, commits, states).map((finding) => `${key} on ${host}: ${finding}`)),
      ...indexed(history, key, commits),
    ];
  });

/** The state after each commit, or why the log cannot be folded. */
const replay = (commits: readonly RecordedCommit[]): PlainState[] | string => {
  const states: PlainState[] = [toPlain(initialState)];
  let state = initialState;
  for (const commit of commits) {
    try {
      state = fold(state, commit);
    } catch (error) {
      return `the log cannot be folded at ${commit.seq}: ${messageOf(error)}`;
    }
    states.push(toPlain(state));
  }
  return states;
};

const differences = (live: PlainState, commits: readonly RecordedCommit[], states: readonly PlainState[]): string[] => {
  const { rev, seq } = live.position;
  if (!isDeepStrictEqual(live, states[rev])) return [`the live state at ${seq} is not the fold of the log up to rev ${rev}`];
  const whole = commits.slice(rev).reduce<SessionState>(fold, fromPlain(live));
  return isDeepStrictEqual(toPlain(whole), states.at(-1)) ? [] : [`snapshot at ${seq} and tail are not the fold of the log`];
};

const indexed = ({ index }: History, key: string, commits: readonly RecordedCommit[]): string[] => {
  if (index === null) return [];
  const row = commits.reduce<IndexRow | null>(summarize, null);
  return isDeepStrictEqual(
    index.find((candidate) => candidate.key === key),
    row,
  )
    ? []
    : [`${key}: the index row is not the fold of the log`];
};
