import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionIdsOf } from '../../../shared/domain/projections/session-ids.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventType, SessionEvent } from '../../../shared/domain/session/events.ts';

/** A position in the log: after event `index` of commit `seq`; an infinite `index` means after the whole commit. */
export interface Cursor {
  readonly seq: number;
  readonly index: number;
}

/** The position after a whole commit. */
export const afterCommit = (seq: number): Cursor => ({ seq, index: Number.POSITIVE_INFINITY });

/** Reads `SEQ` or `SEQ.INDEX`; `null` if it is neither. */
export const parseCursor = (text: string): Cursor | null => {
  const [, seq, index] = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (seq === undefined) return null;
  return index === undefined ? afterCommit(Number(seq)) : { seq: Number(seq), index: Number(index) };
};
export const formatCursor = ({ seq, index }: Cursor): string => (Number.isFinite(index) ? `${seq}.${index}` : `${seq}`);

/** The sequence after which to read the log. A commit that the cursor points into is read again. */
export const logPosition = ({ seq, index }: Cursor): number => (Number.isFinite(index) ? Math.max(0, seq - 1) : seq);

export const isAfter = (cursor: Cursor, seq: number, index: number): boolean =>
  seq > cursor.seq || (seq === cursor.seq && index > cursor.index);

/** One event as clients see it: its own fields together with those of its commit. `id` is `<seq>.<index>`. */
export type EventView = SessionEvent & {
  readonly id: string;
  readonly seq: number;
  readonly index: number;
  readonly rev: number;
  readonly key: SessionKey;
  readonly at: number;
  readonly correlationId: string;
  readonly actor: string;
  readonly host?: string | undefined;
};

/** The events of a commit that come after a cursor. */
export const eventsAfter = (cursor: Cursor, commit: RecordedCommit): EventView[] => {
  const { seq, rev, key, at, correlationId, actor, host } = commit;
  const by = { actor, ...(host !== undefined && { host }) };
  const sessionIds = sessionIdsOf(commit);
  return commit.events.flatMap((event, index) => {
    if (!isAfter(cursor, seq, index)) return [];
    const sessionId = sessionIds[index] ?? commit.sessionId;
    return [{ id: `${seq}.${index}`, seq, index, rev, key, sessionId, at, correlationId, ...by, ...event }];
  });
};

/** Which events a reader wants; by default all. */
export interface EventFilter {
  readonly types?: ReadonlySet<string> | undefined;
  /** Whole segments of the key's beginning. */
  readonly keyPrefix?: string | undefined;
}
export const wantsKey = ({ keyPrefix }: EventFilter, key: string): boolean =>
  keyPrefix === undefined || (key.startsWith(keyPrefix) && (key.length === keyPrefix.length || key[keyPrefix.length] === ':'));
export const wantsType = ({ types }: EventFilter, type: EventType): boolean => types === undefined || types.has(type);
