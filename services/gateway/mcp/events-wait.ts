import { z } from 'zod';
import { sessionsHistoryParameters, sessionsSendParameters } from '../../../shared/domain/projections/schemas.ts';
import { eventTypes } from '../../../shared/domain/session/events.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { afterCommit, type EventView, eventsAfter, formatCursor, logPosition, parseCursor, wantsType } from '../cursor.ts';
import { eventPage, reachedCursor, type WantedEvents } from '../event-page.ts';
import { noSuchSession } from '../history.ts';
import { afterParameter } from '../input.ts';
import type { Call } from '../rpc.ts';

export const eventsWaitParameters = z.strictObject({
  after: z
    .string('use the "next" of an earlier answer, such as "17.2"')
    .pipe(afterParameter)
    .optional()
    .describe('Where to go on: "next" of an earlier answer, or the "id" of an event. Without it: what happens from now on.'),
  sessionKey: sessionsHistoryParameters.shape.sessionKey.optional(),
  types: z.array(z.enum(eventTypes)).min(1).max(eventTypes.length).optional().describe('Only events of these types.'),
  timeoutSeconds: sessionsSendParameters.shape.timeoutSeconds.describe('How long to wait while there is nothing.'),
});

/** `next` is the `after` of the next call, at any gateway. */
interface WaitedEvents {
  readonly events: readonly EventView[];
  readonly next: string;
}

/**
 * `events_wait`: what is recorded after a cursor and the caller may see, at once where there is some, else as soon as there is. Throws
 * `noSuchSession()` for a session that is not theirs to see or stops being so, and `NatterError('invalid')` for a cursor of another log.
 */
export const eventsWait = async (call: Call, given: z.infer<typeof eventsWaitParameters>): Promise<WaitedEvents> => {
  const { context, asker } = call;
  const key = given.sessionKey === undefined ? undefined : keyFrom(context.config, given.sessionKey);
  const seen = key ? await context.access.enter(asker.principal, key) : 0;
  const after = await reachedCursor(context, given.after ?? afterCommit(context.feed.position), 'after');
  const filter = { types: given.types && new Set<string>(given.types) };
  const wanted = { ...(key && { key }), filter, after, limit: limits.waitedEvents };
  const { items, next, more } = await eventPage(context, asker.principal, seen, wanted);
  if (items.length > 0 || more || given.timeoutSeconds === 0) return answerOf(items, next);
  return nextEvents(call, seen, { ...wanted, after: parseCursor(next) ?? after }, given.timeoutSeconds * 1_000);
};

/** The events of the next commit that has some for the caller. None when the time is up, or the caller is gone. */
const nextEvents = async (
  { context, asker, signal }: Call,
  seen: number,
  { key, filter, after }: WantedEvents,
  waitMs: number,
): Promise<WaitedEvents> => {
  const { feed, access, ports } = context;
  const over = new AbortController();
  const end = () => over.abort();
  void ports.clock.sleep(waitMs, AbortSignal.any([signal, over.signal])).then(end);
  const shows = access.showsNow(asker.principal);
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

/** As many events as one answer holds, at least one; of those left out the next call begins. */
const answerOf = (events: readonly EventView[], next: string): WaitedEvents => {
  let characters = 0;
  const end = events.findIndex((event, at) => {
    characters += JSON.stringify(event).length;
    return at > 0 && (at === limits.waitedEvents || characters > limits.waitedEventsCharacters);
  });
  const last = events[end - 1];
  return last === undefined ? { events, next } : { events: events.slice(0, end), next: formatCursor(last) };
};
