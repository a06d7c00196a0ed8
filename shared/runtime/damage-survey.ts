import type { SessionKey } from '../domain/keys/session-key.ts';
import {
  chainStart,
  gapBefore,
  type HistoryGap,
  isErasure,
  linkAfter,
  type ReadLink,
  standsOn,
  startsAnew,
} from '../domain/session/chain.ts';
import type { RecordedCommit } from '../domain/session/envelope.ts';
import { fromPlain, initialState, type SessionState, salvage } from '../domain/session/fold/evolve.ts';
import { hasCode } from '../kit/errors.ts';
import type { Ports } from '../ports/index.ts';
import type { SessionIndex } from '../ports/session-index.ts';
import { readThrough } from './read-through.ts';

/** What a session's log lacks, and what is still known of the session. */
export interface DamageSurvey {
  /** Gaps that nobody has decided about, oldest first. */
  readonly gaps: readonly HistoryGap[];
  /** The last commit that can be read; sequence 0 if none can. */
  readonly last: ReadLink;
  /** The last sequence by which the broker fences an append: 0 when it cannot read the last commit. */
  readonly fenceSeq: number;
  /** The newest rev that anything knows of. */
  readonly newestRev: number;
  /** By the newest snapshot and the commits that can be read. */
  readonly known: SessionState;
}

/** Reads of a session before it counts as damaged: each may be answered by another replica (R3). */
const reads = 5;

/**
 * Reads the whole log of a session and looks for gaps, also at its end, where the snapshot, the row in the index and the number of stored
 * messages are the witnesses. A session is whole if one of several reads finds it whole. Throws `quarantined` at a message that is not a
 * commit, and `unavailable`.
 */
export const surveyDamage = async (ports: SurveyPorts, key: SessionKey): Promise<DamageSurvey> => {
  let survey = await surveyOnce(ports, key);
  for (let read = 1; read < reads && survey.gaps.length > 0; read++) survey = await surveyOnce(ports, key);
  return survey;
};

export type SurveyPorts = Pick<Ports, 'events' | 'snapshots' | 'clock'> & { readonly index: Pick<SessionIndex, 'get'> };

const surveyOnce = async (ports: SurveyPorts, key: SessionKey): Promise<DamageSurvey> => {
  // These first: the log is never behind what was read before it.
  const [snapshot, row] = await Promise.all([ports.snapshots.get(key), ports.index.get(key)]);
  const fence = await fenceOf(ports.events, key);
  const walk = new Walk();
  for await (const commit of readThrough(ports, key, { after: 0, through: fence ?? 0 })) {
    walk.take(commit);
    if (snapshot !== null && standsOn(snapshot, commit)) walk.known = fromPlain(snapshot);
  }
  const { last, gaps } = walk;
  const witnessed = snapshot !== null && snapshot.position.seq > last.seq ? snapshot : null;
  if (witnessed !== null) walk.known = fromPlain(witnessed);
  // What a row says of a lost commit is no state; that the commit was there is certain.
  if (row !== null && row.rev > walk.known.position.rev && row.seq > last.seq)
    walk.known = { ...walk.known, position: { ...walk.known.position, rev: row.rev, seq: row.seq } };
  const unread = fence === null ? Math.max(1, (await ports.events.count(key)) - walk.read - walk.missing) : 0;
  const newestRev = Math.max(walk.known.position.rev, last.rev + unread);
  if (newestRev > last.rev) {
    const reason = unread > 0 ? 'unreadable' : 'missing';
    gaps.push({ reason, fromRev: last.rev + 1, toRev: newestRev, afterSeq: last.seq, beforeSeq: null });
  }
  return { gaps, last, fenceSeq: fence === null ? 0 : last.seq, newestRev, known: walk.known };
};

/** The sequence of the key's last commit as its leader has it; `null` when that cannot be read. */
const fenceOf = async (events: Ports['events'], key: SessionKey): Promise<number | null> => {
  try {
    return (await events.last(key))?.seq ?? 0;
  } catch (error) {
    if (hasCode(error, 'damaged')) return null;
    throw error;
  }
};

/** Reads on over every gap. */
class Walk {
  last: ReadLink = { ...chainStart, seq: 0 };
  known: SessionState = initialState;
  gaps: HistoryGap[] = [];
  read = 0;
  /** Commits that are lacking between two readable ones; what was erased is not. */
  missing = 0;

  take(commit: RecordedCommit): void {
    const gap = gapBefore(this.last, commit);
    if (startsAnew(commit)) this.gaps = [];
    if (gap !== null) this.gaps.push(gap);
    if (!isErasure(commit)) this.missing += Math.max(0, commit.rev - this.last.rev - 1);
    this.known = salvage(this.known, commit);
    this.last = { ...linkAfter(this.last, commit), seq: commit.seq };
    this.read += 1;
  }
}
