import { type EventPage, type NatterClient, type NatterEvent, sessionPath } from '../../../shared/client/main.ts';
import { readableEvents } from '../../../shared/domain/projections/readable-events.ts';

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
  return { events: readableEvents(events.toReversed()), hasMore: more };
};

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
