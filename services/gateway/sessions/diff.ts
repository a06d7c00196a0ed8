import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { initialState, type Position, type SessionState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { HistoryFold } from '../../../shared/domain/session/fold/history-fold.ts';
import { type Difference, differences } from '../../../shared/kit/comparison.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { lastOf } from '../context/history.ts';
import { afterCommit, type Cursor, type EventView, eventsAfter, formatCursor } from '../http/cursor.ts';
import { historyOf, isBy, type Moment, nothingThen } from './state.ts';

type Place = Pick<Position, 'seq' | 'rev' | 'at'>;

/** The differences of a session between two moments. */
export interface Changes {
  readonly key: SessionKey;
  /** The last commit by the first moment; sequence 0 if that is before everything the caller may see. */
  readonly from: Place;
  readonly to: Place;
  /** The differences in status and context, without the bookkeeping that every commit changes. */
  readonly changes: readonly Difference[];
  /** The events in between, oldest first, up to a limit; with `more`, read on from `next`. */
  readonly events: readonly EventView[];
  readonly next: string;
  readonly more: boolean;
}

export interface Span {
  readonly from: Moment;
  /** Default: now. */
  readonly to?: Moment | undefined;
  /** The caller may see nothing recorded up to this sequence. */
  readonly since: number;
  /** Maximum number of events. */
  readonly limit: number;
}

/**
 * Folds the log once, up to `to`, and compares the states at both moments (I4). Throws `invalid` if `from` is later than `to`, otherwise as
 * `stateAt`.
 */
export const changesBetween = async ({ events }: Pick<Ports, 'events'>, key: SessionKey, span: Span): Promise<Changes> => {
  const { since } = span;
  const { before, after, isBackwards, ...between } = await orQuarantined(walked({ events }, key, span));
  if (isBackwards) throw new NatterError('invalid', 'from: is later than "to"', { field: 'from' });
  if (after.position.seq <= since) throw await nothingThen({ events }, key, since, 'to');
  // Only the owner sees what was there before a deletion; for others everything is new.
  const start = before.position.seq <= since ? initialState : before;
  return { key, from: placeOf(start), to: placeOf(after), changes: differences(shown(start), shown(after)), ...between };
};

const walked = async ({ events }: Pick<Ports, 'events'>, key: SessionKey, { from, to, since, limit }: Span) => {
  const last = await lastOf(events, key);
  const [isBefore, isWithin] = [isBy(from), isBy(to ?? last)];
  const replay = new HistoryFold();
  let before = initialState;
  const between: EventView[] = [];
  let next: Cursor | null = null;
  let more = false;
  let isBackwards = false;
  for await (const commit of historyOf(events, last)) {
    if (!isWithin(commit)) {
      isBackwards = isBefore(commit);
      break;
    }
    const isOld = replay.state === before && isBefore(commit);
    replay.take(commit);
    if (isOld) before = replay.state;
    else if (commit.seq > since && !more) {
      const happened = eventsAfter({ seq: 0, index: -1 }, commit);
      const room = happened.slice(0, limit - between.length);
      between.push(...room);
      more = room.length < happened.length;
      const end = room.at(-1);
      if (!more) next = afterCommit(commit.seq);
      else if (end) next = end;
    }
  }
  const after = replay.whole(key);
  return { before, after, isBackwards, events: between, next: formatCursor(next ?? afterCommit(before.position.seq)), more };
};

const placeOf = ({ position: { seq, rev, at } }: SessionState): Place => ({ seq, rev, at });

const shown = (state: SessionState) => {
  const { status, context } = toPlain(state);
  return { status, ...context };
};
