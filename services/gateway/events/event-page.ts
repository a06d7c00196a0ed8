import type { Principal } from '../../../shared/domain/access/access.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { Edge } from '../history/page-back.ts';
import type { Page } from '../history/page-forward.ts';
import { type PageRange, pageOf } from '../history/page-of.ts';
import { type Cursor, type EventFilter, type EventView, eventsAfter, wantsKey, wantsType } from '../http/cursor.ts';

/** Which events a caller wants to see: of one session or of all. */
export interface WantedEvents extends PageRange {
  readonly key?: SessionKey;
  readonly filter: EventFilter;
}

/** The recorded events that the principal may see, after the sequence `since`. `last`: the last commit of the session. */
export const eventPage = (
  { ports, access }: GatewayContext,
  principal: Principal,
  { since, last }: { readonly since: number; readonly last?: Edge | undefined },
  { key, filter, after, before, limit }: WantedEvents,
): Promise<Page<EventView>> => {
  const shows = access.showsNow(principal);
  return pageOf(ports.events, { after, before, limit, key, last, since }, async (commit, from) =>
    !wantsKey(filter, commit.key) || !(await shows(commit))
      ? []
      : eventsAfter(from, commit)
          .filter(({ type }) => wantsType(filter, type))
          .map((event) => ({ cursor: { seq: event.seq, index: event.index }, item: event })),
  );
};

/** The cursor, if the log has reached it: a cursor of another log could be waited for in vain. Throws `NatterError('invalid')`. */
export const reachedCursor = async ({ feed, ports }: GatewayContext, cursor: Cursor, field: string): Promise<Cursor> => {
  const now = feed.position;
  if (cursor.seq <= now || cursor.seq <= (await ports.events.info()).lastSeq) return cursor;
  throw new NatterError('invalid', `${field}: the log ends at ${now}; this cursor is from another log or from the future`, {
    field,
  });
};
