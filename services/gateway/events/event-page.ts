import type { Principal } from '../../../shared/domain/access/access.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Access } from '../context/access.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { type Page, pageOf } from '../context/history.ts';
import { pageBack } from '../history/history-back.ts';
import {
  beginning,
  type Cursor,
  type EventFilter,
  type EventView,
  eventsAfter,
  logPosition,
  wantsKey,
  wantsType,
} from '../http/cursor.ts';

/** Which events a caller wants to see: of one session or of all. */
export interface WantedEvents {
  readonly key?: SessionKey;
  readonly filter: EventFilter;
  readonly after: Cursor;
  readonly limit: number;
}
/** The same, read backwards. */
export type EventsBack = Omit<WantedEvents, 'after'> & { readonly before: Cursor | 'end' };

/** The recorded events that the principal may see, oldest first, after the sequence `seen`. */
export const eventPage = (
  { ports, access }: GatewayContext,
  principal: Principal,
  seen: number,
  { key, filter, after, limit }: WantedEvents,
): Promise<Page<EventView>> => {
  const pick = picking(access, principal, filter, after);
  return pageOf(ports.events, { after, limit, from: Math.max(seen, logPosition(after)), ...(key && { key }) }, pick);
};

/** The same in front of a position, newest first. `last`: the end of the session, or of the log. */
export const eventsBack = (
  { ports, access }: GatewayContext,
  principal: Principal,
  { seen, last }: { readonly seen: number; readonly last: { readonly seq: number; readonly rev: number } },
  { key, filter, before, limit }: EventsBack,
): Promise<Page<EventView>> =>
  pageBack(ports.events, { before, limit, from: seen, key, last }, picking(access, principal, filter, beginning));

const picking = (access: Access, principal: Principal, filter: EventFilter, after: Cursor) => {
  const shows = access.showsNow(principal);
  return async (commit: RecordedCommit) =>
    !wantsKey(filter, commit.key) || !(await shows(commit))
      ? []
      : eventsAfter(after, commit)
          .filter(({ type }) => wantsType(filter, type))
          .map((event) => ({ cursor: { seq: event.seq, index: event.index }, item: event }));
};

/** The cursor, if the log has reached it: a cursor of another log could be waited for in vain. Throws `NatterError('invalid')`. */
export const reachedCursor = async ({ feed, ports }: GatewayContext, cursor: Cursor, field: string): Promise<Cursor> => {
  const now = feed.position;
  if (cursor.seq <= now || cursor.seq <= (await ports.events.info()).lastSeq) return cursor;
  throw new NatterError('invalid', `${field}: the log ends at ${now}; this cursor is from another log or from the future`, {
    field,
  });
};
