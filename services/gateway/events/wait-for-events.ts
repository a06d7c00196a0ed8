import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { EventType } from '../../../shared/domain/session/events.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { noSuchSession } from '../context/history.ts';
import {
  afterCommit,
  type Cursor,
  type EventView,
  eventsAfter,
  formatCursor,
  logPosition,
  parseCursor,
  wantsType,
} from '../http/cursor.ts';
import type { Call } from '../operation/operation.ts';
import { eventPage, reachedCursor, type WantedEvents } from './event-page.ts';

export interface EventWait {
  /** One session, or all that the caller may see. */
  readonly key: SessionKey | undefined;
  /** Default: now. */
  readonly after: Cursor | undefined;
  readonly types: readonly EventType[] | undefined;
  readonly waitMs: number;
  readonly limit: number;
}

/** `next` is the `after` of the next call, at any gateway. */
interface WaitedEvents {
  readonly events: readonly EventView[];
  readonly next: string;
}

/**
 * `events_wait`: the visible events after a cursor, at once if there are any, else as soon as there are. Throws `noSuchSession()` for a session
 * that the caller may not, or no longer, see, and `NatterError('invalid')` for a cursor of another log.
 */
export const waitForEvents = async (call: Call, { key, types, waitMs, limit, ...given }: EventWait): Promise<WaitedEvents> => {
  const { context, caller } = call;
  const seen = key ? await context.access.enter(caller.principal, key) : 0;
  const after = await reachedCursor(context, given.after ?? afterCommit(context.feed.position), 'after');
  const filter = { types: types && new Set<string>(types) };
  const wanted = { ...(key && { key }), filter, after, limit };
  const { items, next, more } = await eventPage(context, caller.principal, { since: seen }, wanted);
  if (items.length > 0 || more || waitMs === 0) return answerOf(items, next);
  return nextEvents(call, seen, { ...wanted, after: parseCursor(next) ?? after }, waitMs);
};

/** The events of the next commit with visible ones. None if the time is up or the caller is gone. */
const nextEvents = async (
  { context, caller, signal }: Call,
  seen: number,
  { key, filter, after }: WantedEvents & { readonly after: Cursor },
  waitMs: number,
): Promise<WaitedEvents> => {
  const { feed, access, ports } = context;
  const over = new AbortController();
  const end = () => over.abort();
  void ports.clock.sleep(waitMs, AbortSignal.any([signal, over.signal])).then(end);
  const shows = access.showsNow(caller.principal);
  let next = after;
  try {
    const from = Math.max(seen, logPosition(after));
    for await (const commit of feed.follow({ after: from, signal: over.signal, ...(key && { key }) })) {
      const isShown = await shows(commit);
      if (key && !isShown) throw noSuchSession();
      next = afterCommit(commit.seq);
      const events = isShown ? eventsAfter(after, commit).filter(({ type }) => wantsType(filter, type)) : [];
      if (events.length > 0) return answerOf(events, formatCursor(next));
    }
    return answerOf([], formatCursor(next));
  } finally {
    end();
  }
};

/** As many events as fit into one answer, at least one; the next call starts with the others. */
const answerOf = (events: readonly EventView[], next: string): WaitedEvents => {
  let characters = 0;
  const end = events.findIndex((event, at) => {
    characters += JSON.stringify(event).length;
    return at > 0 && (at === limits.waitedEvents || characters > limits.waitedEventsCharacters);
  });
  const last = events[end - 1];
  return last === undefined ? { events, next } : { events: events.slice(0, end), next: formatCursor(last) };
};
