import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isErasure, standsOn } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import {
  fromPlain,
  initialState,
  type PlainState,
  type SessionState,
  toPlain,
} from '../../../shared/domain/session/fold/evolve.ts';
import { HistoryFold } from '../../../shared/domain/session/fold/history-fold.ts';
import { hasCode, isUnreadable, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { lastOf } from '../context/history.ts';
import { Refusal } from '../http/problem.ts';

/** A session's state, now or at a moment of its past, by the one fold (I4). */
export interface StateAnswer extends PlainState {
  readonly key: SessionKey;
  /** Whether the fold started from a snapshot or from the whole log. */
  readonly from: 'snapshot' | 'log';
}
/** As of a sequence (of the whole log), or of a time at the broker, ms. */
export type Moment = { readonly seq: number } | { readonly time: number };

type Sources = Pick<Ports, 'events' | 'snapshots'>;

/** Whether a commit had been recorded by a moment. */
export const isBy =
  (moment: Moment) =>
  (commit: RecordedCommit): boolean =>
    'seq' in moment ? commit.seq <= moment.seq : commit.recordedAt <= moment.time;

/**
 * The key's commits after a sequence up to its last one, oldest first. Throws `history_too_long` above the limit of one call, and `unavailable`
 * if this replica has less of the log than its leader.
 */
export async function* historyOf(
  events: Pick<EventLog, 'read'>,
  { key, seq: upTo }: Pick<RecordedCommit, 'key' | 'seq'>,
  after = 0,
): AsyncGenerator<RecordedCommit, void, undefined> {
  let seen = after;
  let commits = 0;
  for await (const commit of events.read(key, { after, upTo })) {
    if (++commits > limits.replayCommits) throw tooLong();
    seen = commit.seq;
    yield commit;
  }
  if (seen < upTo) throw new NatterError('unavailable', 'the log is not read to its end yet; try again');
}

const tooLong = (): Refusal =>
  new Refusal(
    'history_too_long',
    `more than ${limits.replayCommits} commits would have to be folded for this; read them with /commits and fold them where you are`,
  );

/** Throws `damaged` for a moment after a gap and before a person decided about it. */
const foldUpTo = async (
  { events }: Sources,
  last: Pick<RecordedCommit, 'key' | 'seq'>,
  moment: Moment,
  snapshot: PlainState | null = null,
): Promise<SessionState | null> => {
  const replay = new HistoryFold(snapshot === null ? undefined : fromPlain(snapshot));
  const isPast = isBy(moment);
  let stands = snapshot === null;
  for await (const commit of historyOf(events, last, snapshot === null ? 0 : snapshot.position.seq - 1)) {
    if (!isPast(commit)) break;
    if (stands) replay.take(commit);
    else if (snapshot !== null && standsOn(snapshot, commit)) stands = true;
    else return null;
  }
  return replay.whole(last.key);
};

/** The key's last commit; where that cannot be read, the last that can, if the moment is not after it. */
const endOf = async (events: EventLog, key: SessionKey, moment: Moment): Promise<Pick<RecordedCommit, 'key' | 'seq'>> => {
  try {
    return await lastOf(events, key);
  } catch (error) {
    if (!hasCode(error, 'damaged')) throw error;
    let end = { key, seq: 0 };
    for await (const commit of events.read(key)) end = commit;
    if (!('seq' in moment) || moment.seq > end.seq) throw error;
    return end;
  }
};

/** The state folded from the snapshot; `null` if there is none, it is too new, or it leaves any doubt. */
const fromSnapshot = async (
  sources: Sources,
  last: Pick<RecordedCommit, 'key' | 'seq'>,
  moment: Moment,
): Promise<SessionState | null> => {
  // A snapshot does not record the broker's time of its last commit.
  if (!('seq' in moment)) return null;
  const snapshot = await sources.snapshots.get(last.key);
  if (snapshot === null || snapshot.position.seq > Math.min(moment.seq, last.seq)) return null;
  try {
    return await orQuarantined(foldUpTo(sources, last, moment, snapshot));
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
};

/**
 * The state at a moment, or now: from snapshot and tail, or from the whole log where the snapshot leaves any doubt. Throws `not_found` for a
 * moment before the first commit after the sequence `since`, which is all that the caller may see. Throws `erased` for an erased moment,
 * `quarantined`, `damaged`, and `history_too_long`.
 */
export const stateAt = async (sources: Sources, key: SessionKey, moment?: Moment, since = 0): Promise<StateAnswer> => {
  const last = moment === undefined ? await lastOf(sources.events, key) : await endOf(sources.events, key, moment);
  const until = moment ?? last;
  const cached = await fromSnapshot(sources, last, until);
  const state = cached ?? (await orQuarantined(foldUpTo(sources, last, until))) ?? initialState;
  if (moment !== undefined && state.position.seq <= since) throw await nothingThen(sources, key, since, 'at');
  return { key, ...toPlain(state), from: cached === null ? 'log' : 'snapshot' };
};

/** Why there is no state at the moment in `field`. Only callers who see everything learn that a history was erased. */
export const nothingThen = async (
  { events }: Pick<Sources, 'events'>,
  key: SessionKey,
  since: number,
  field: string,
): Promise<NatterError> => {
  const { commits } = await orQuarantined(events.page({ after: 0, limit: 1, key }));
  const [first] = commits;
  if (since === 0 && first !== undefined && isErasure(first)) {
    const time = new Date(first.at).toISOString();
    return new NatterError('erased', `session ${key} was erased at ${time}; ask for ${first.seq} or later`, { field });
  }
  return new NatterError('not_found', `session ${key} did not exist then`, { field });
};
