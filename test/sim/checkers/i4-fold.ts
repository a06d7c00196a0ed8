import { isDeepStrictEqual } from 'node:util';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import {
  fold,
  fromPlain,
  initialState,
  type PlainState,
  type SessionState,
  toPlain,
} from '../../../shared/domain/session/fold/evolve.ts';
import { type Checker, type Folded, foldsOf, type History } from '../history.ts';

/** I4: the fold of the log, the states of live actors, snapshot + tail and the index are the same. */
export const foldIsLiveIsSnapshot: Checker = (history) =>
  [...foldsOf(history)].flatMap(([key, folded]) => {
    if (folded.broken !== null) return [`${key}: ${folded.broken}`];
    const own = history.snapshots.filter((snapshot) => snapshot.key === key);
    const first = own[0];
    const wrong = own.flatMap(({ host, state }) => lived(state, folded).map((finding) => `${key} on ${host}: ${finding}`));
    return [
      ...wrong,
      ...(first === undefined || wrong.length > 0 ? [] : continued(first.state, folded).map((finding) => `${key}: ${finding}`)),
      ...indexed(history, key, folded),
    ];
  });

const lived = (live: PlainState, { states }: Folded): string[] => {
  const replayed = states[live.position.rev];
  return replayed !== undefined && isDeepStrictEqual(live, toPlain(replayed))
    ? []
    : [`the live state at ${live.position.seq} is not the fold of the log up to rev ${live.position.rev}`];
};

/** The oldest snapshot has the longest tail. */
const continued = (snapshot: PlainState, { log, states }: Folded): string[] => {
  const whole = log.slice(snapshot.position.rev).reduce<SessionState>(fold, fromPlain(snapshot));
  return isDeepStrictEqual(toPlain(whole), toPlain(states.at(-1) ?? initialState))
    ? []
    : [`snapshot at ${snapshot.position.seq} and tail are not the fold of the log`];
};

/** A row may lack what the store lost before it was read. */
const indexed = ({ index, damages }: History, key: string, { log }: Folded): string[] => {
  if (index === null || damages.some((damage) => damage.key === key)) return [];
  const row = log.reduce<IndexRow | null>(summarize, null);
  const stored = index.find((candidate) => candidate.key === key);
  return isDeepStrictEqual(stored, plain(row)) ? [] : [`${key}: the index row is not the fold of the log`];
};

/** As it is stored: what is undefined is absent. */
const plain = (row: IndexRow | null): unknown => (row === null ? null : JSON.parse(JSON.stringify(row)));
