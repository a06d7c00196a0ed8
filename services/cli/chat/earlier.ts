import { type EventPage, type NatterClient, type NatterEvent, sessionPath } from '../../../shared/client/main.ts';
import type { EventOf, SessionEvent } from '../../../shared/domain/session/events.ts';

/** What was recorded of a session before the chat began. */

/** Events that are read for it. */
const mostEvents = 500;
/** Rows of the screen that are left for the prompt and what is above it. */
const otherRows = 4;

/** The last events of a session, oldest first, and whether there are others before them. */
export interface Earlier {
  readonly events: readonly NatterEvent[];
  readonly hasMore: boolean;
}

export const readEarlier = async (client: NatterClient, key: string): Promise<Earlier> => {
  const query = { before: 'end', limit: mostEvents };
  const { events, more } = await client.get<EventPage>(`${sessionPath(key)}/events`, { query });
  return { events: readable(events.toReversed()), hasMore: more };
};

/** The events as people read them: each message as it was last edited, none that was withdrawn, and one that waited right above its answer. */
export const readable = <T extends SessionEvent & { readonly id: string }>(events: readonly T[]): T[] =>
  besideAnswers(revised(events));

const revised = <T extends SessionEvent & { readonly id: string }>(events: readonly T[]): T[] => {
  const texts = new Map<string, string | null>();
  for (const event of events)
    if (event.type === 'message_edited') texts.set(event.of, event.text);
    else if (event.type === 'message_withdrawn') texts.set(event.of, null);
  return events.flatMap((event) => {
    const text = texts.get(event.id);
    if (event.type !== 'user_message' || text === undefined) return [event];
    return text === null ? [] : [{ ...event, message: { ...event.message, text } }];
  });
};

const besideAnswers = <T extends SessionEvent>(events: readonly T[]): T[] => {
  const queued = new Set(events.flatMap((event) => (event.type === 'turn_queued' ? event.turn.id : [])));
  const begun = new Set(events.flatMap((event) => (event.type === 'turn_started' ? turnsBegunBy(event) : [])));
  const waiting = new Map<string, T>();
  return events.flatMap((event) => {
    if (event.type === 'user_message' && event.turnId !== undefined && queued.has(event.turnId) && begun.has(event.turnId)) {
      waiting.set(event.turnId, event);
      return [];
    }
    if (event.type !== 'turn_started') return [event];
    const answered = turnsBegunBy(event).flatMap((id) => waiting.get(id) ?? []);
    return [...answered, event];
  });
};

/** The turn that begins, and the queued ones that it answers too. */
export const turnsBegunBy = ({ turn, merged = [] }: EventOf<'turn_started'>): string[] => [
  turn.id,
  ...merged.map(({ id }) => id),
];

/** Whether a turn, or a session, begins with this event: a message of a person, or a reset. */
export const isBeginning = (event: NatterEvent): boolean =>
  event.type === 'session_reset' || (event.type === 'user_message' && event.message.sender.id !== 'natter');

/** Of turns, each in lines, the last ones that fit on a screen of so many rows, and the last one in any case. */
export const lastThatFit = (turns: readonly (readonly string[])[], rows: number): readonly (readonly string[])[] => {
  let room = rows - otherRows - (turns.at(-1)?.length ?? 0);
  let first = turns.length - 1;
  while (first > 0 && (turns[first - 1]?.length ?? 0) <= room) {
    first -= 1;
    room -= turns[first]?.length ?? 0;
  }
  return turns.slice(Math.max(0, first));
};
