import { limits } from '../../kit/limits.ts';
import type { RecordedCommit } from './envelope.ts';
import type { EventOf, SessionEvent } from './events.ts';

/** Which ranges of a session introspection has covered, and which failed (A7/80, 84). */

/** A range whose introspection failed. Later ranges proceed without it, and it may be requested again. */
export interface Gap {
  /** Session id of its generation. */
  readonly sessionId: string;
  readonly fromRev: number;
  readonly toRev: number;
  /** A sequence before it, from which to read the log. */
  readonly afterSeq: number;
  /** Number of failures, up to `limits.introspectionTries`; from then on only a person's request tries again. */
  readonly tries: number;
  /** It has been requested again. */
  readonly asked?: true | undefined;
}

/**
 * Everything up to `rev`, whose sequence is at least `seq`, has been introspected or need not be, except for the gaps, oldest
 * first.
 */
export interface Covered {
  readonly rev: number;
  readonly seq: number;
  readonly gaps: readonly Gap[];
}

/** True when no part of the range has been introspected: each part is new or in a gap. */
export const isOpen = ({ rev, gaps }: Covered, { fromRev, toRev }: Pick<Gap, 'fromRev' | 'toRev'>): boolean => {
  const fresh = Math.max(0, toRev - Math.max(rev, fromRev - 1));
  const failed = gaps.reduce((sum, gap) => sum + Math.max(0, Math.min(toRev, gap.toRev) - Math.max(fromRev, gap.fromRev) + 1), 0);
  return fromRev <= toRev && fresh + failed === toRev - fromRev + 1;
};

/** The coverage after a commit. What precedes the opening of a session, or damage, is not introspected. */
export const coveredAfter = (before: Covered, { rev, seq, events }: RecordedCommit): Covered =>
  events.some(({ type }) => type === 'session_opened' || type === 'history_damaged')
    ? { rev: rev - 1, seq: seq - 1, gaps: [] }
    : events.reduce(after, before);

const after = (covered: Covered, event: SessionEvent): Covered => {
  switch (event.type) {
    case 'introspected':
      return { ...upTo(covered, event), gaps: outside(covered.gaps, event) };
    case 'introspection_failed':
      // Events recorded before `toSeq` existed left no gap: the next introspection starts where they did.
      return event.toSeq === undefined ? covered : failed(covered, { ...event, toSeq: event.toSeq });
    case 'checkpoint_requested':
      return { ...covered, gaps: covered.gaps.map((gap) => (isWithin(gap, event) ? { ...gap, asked: true } : gap)) };
    default:
      return covered;
  }
};

type Range = Pick<EventOf<'introspected'>, 'fromRev' | 'toRev' | 'toSeq'>;

const upTo = ({ rev, seq }: Covered, { toRev, toSeq }: Range) => (toRev > rev ? { rev: toRev, seq: toSeq } : { rev, seq });
const isWithin = (gap: Gap, { fromRev, toRev }: Pick<Gap, 'fromRev' | 'toRev'>): boolean =>
  fromRev <= gap.fromRev && gap.toRev <= toRev;
const overlaps = (gap: Gap, { fromRev, toRev }: Range): boolean => gap.fromRev <= toRev && fromRev <= gap.toRev;

/** The parts of gaps outside a range. */
const outside = (gaps: readonly Gap[], range: Range): Gap[] =>
  gaps.flatMap((gap) => {
    if (!overlaps(gap, range)) return [gap];
    const { fromRev, toRev, toSeq } = range;
    return [
      ...(gap.fromRev < fromRev ? [{ ...gap, toRev: fromRev - 1 }] : []),
      ...(gap.toRev > toRev ? [{ ...gap, fromRev: toRev + 1, afterSeq: toSeq }] : []),
    ];
  });

const failed = (covered: Covered, event: EventOf<'introspection_failed'> & Range): Covered => {
  const { sessionId, fromRev, toRev } = event;
  const again = covered.gaps.filter((gap) => overlaps(gap, event));
  const gap: Gap = {
    ...{ sessionId, fromRev, toRev, afterSeq: again[0]?.afterSeq ?? covered.seq },
    tries: Math.min(limits.introspectionTries, 1 + Math.max(0, ...again.map(({ tries }) => tries))),
  };
  const gaps = [...outside(covered.gaps, event), gap].sort((one, other) => one.fromRev - other.fromRev);
  return { ...upTo(covered, event), gaps: joined(gaps).slice(-limits.introspectionGaps) };
};

/** Merges adjacent gaps with the same number of tries, so that a model that never answers does not grow the list. */
const joined = (gaps: readonly Gap[]): Gap[] =>
  gaps.reduce<Gap[]>((done, gap) => {
    const last = done.at(-1);
    const isOne = last?.toRev === gap.fromRev - 1 && last.sessionId === gap.sessionId;
    if (isOne && last.tries === gap.tries && last.asked === gap.asked) done.splice(-1, 1, { ...last, toRev: gap.toRev });
    else done.push(gap);
    return done;
  }, []);
