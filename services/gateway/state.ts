import { assert } from '../../shared/kit/assert.ts';
import { hasCode, NatterError } from '../../shared/kit/errors.ts';
import { readable } from '../../shared/kit/readable.ts';
import type { Ports } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import {
  fold,
  fromPlain,
  initialState,
  isErasure,
  type PlainState,
  type SessionState,
  toPlain,
} from '../../shared/session/evolve.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';
import { lastOf } from './history.ts';

/** A session's state, by the one fold (I4). */
export interface StateAnswer extends PlainState {
  readonly key: SessionKey;
  /** Whether a snapshot was the beginning, or the whole log was folded. */
  readonly from: 'snapshot' | 'log';
}
/** As of a sequence (of the whole log), or of a time at the broker, ms. */
export type Moment = { readonly seq: number } | { readonly time: number };

type Sources = Pick<Ports, 'events' | 'snapshots'>;

/** Folds the key's commits up to `last` onto `start`, as long as `within` says so. */
const foldUpTo = async (
  { events }: Sources,
  start: SessionState,
  last: RecordedCommit,
  within: (commit: RecordedCommit) => boolean,
): Promise<SessionState> => {
  let state = start;
  let seen = start.position.seq;
  for await (const commit of events.read(last.key, { after: seen, upTo: last.seq })) {
    seen = commit.seq;
    if (!within(commit)) return state;
    state = fold(state, commit);
  }
  // The leader told us how far the history goes; a replica that has less must not pass for the truth.
  if (seen < last.seq) throw new NatterError('unavailable', 'the log is not read to its end yet; try again');
  return state;
};

/** The current state: snapshot and tail; the whole log where the snapshot leaves any doubt. Throws `not_found`, `quarantined`. */
export const currentState = async (sources: Sources, key: SessionKey): Promise<StateAnswer> => {
  const last = await lastOf(sources.events, key);
  const always = () => true;
  const snapshot = await sources.snapshots.get(key);
  if (snapshot !== null && snapshot.position.seq <= last.seq) {
    try {
      const state = await readable(foldUpTo(sources, fromPlain(snapshot), last, always));
      return { key, ...toPlain(state), from: 'snapshot' };
    } catch (error) {
      if (!hasCode(error, 'quarantined')) throw error;
    }
  }
  return { key, ...toPlain(await readable(foldUpTo(sources, initialState, last, always))), from: 'log' };
};

/**
 * The state as it was at a moment, always by full replay. Throws `not_found` for a moment before the first commit after the sequence
 * `since`: what was there before is not the caller's to see. Throws `erased` where that was erased.
 */
export const stateAt = async (sources: Sources, key: SessionKey, moment: Moment, since = 0): Promise<StateAnswer> => {
  const last = await lastOf(sources.events, key);
  const within = (commit: RecordedCommit): boolean =>
    'seq' in moment ? commit.seq <= moment.seq : commit.recordedAt <= moment.time;
  const state = await readable(foldUpTo(sources, initialState, last, within));
  if (state.position.seq <= since) throw await nothingThen(sources, key, since);
  assert(state.position.seq <= last.seq, 'a replay ends where the log ends');
  return { key, ...toPlain(state), from: 'log' };
};

/** Why there is no state at a moment. Only who may see all is told that there was something, which is erased. */
const nothingThen = async ({ events }: Sources, key: SessionKey, since: number): Promise<NatterError> => {
  const { commits } = await readable(events.page({ after: 0, limit: 1, key }));
  const [first] = commits;
  if (since === 0 && first !== undefined && isErasure(first)) {
    const time = new Date(first.at).toISOString();
    return new NatterError('erased', `session ${key} was erased at ${time}; ask for ${first.seq} or later`, { field: 'at' });
  }
  return new NatterError('not_found', `session ${key} did not exist then`, { field: 'at' });
};
