import pc from 'picocolors';
import { type EventPage, type NatterClient, type NatterEvent, type Session, sessionPath } from '../../../shared/client/main.ts';
import { readableEvents } from '../../../shared/domain/projections/readable-events.ts';
import type { LineEditor } from './line-editor.ts';
import type { Screen } from './screen.ts';
import type { SessionView } from './session-view.ts';

/** What was recorded of a session before the chat began. */

/** Events that are read for it. */
const mostEvents = 500;
/** Rows of the screen that are left for the prompt and what is above it. */
const otherRows = 4;

/** The last events of a session, oldest first, and whether there are others before them. */
interface Earlier {
  readonly events: readonly NatterEvent[];
  readonly hasMore: boolean;
}

export const readEarlier = async (client: NatterClient, key: string): Promise<Earlier> => {
  const query = { before: 'end', limit: mostEvents };
  const { events, more } = await client.get<EventPage>(`${sessionPath(key)}/events`, { query });
  return { events: readableEvents(events.toReversed()), hasMore: more };
};

/** Whether a turn, or a session, begins with this event: a message of a person, or a reset. */
const isBeginning = (event: NatterEvent): boolean =>
  event.type === 'session_reset' || (event.type === 'user_message' && event.message.sender.id !== 'natter');

/** Of turns, each in lines, the last ones that fit on a screen of so many rows, and the last one in any case. */
const lastThatFit = (turns: readonly (readonly string[])[], rows: number): readonly (readonly string[])[] => {
  let room = rows - otherRows - (turns.at(-1)?.length ?? 0);
  let first = turns.length - 1;
  while (first > 0 && (turns[first - 1]?.length ?? 0) <= room) {
    first -= 1;
    room -= turns[first]?.length ?? 0;
  }
  return turns.slice(Math.max(0, first));
};

/** Shows the last turns and what waits for an answer. */
export const showEarlier = (
  { events, hasMore }: Earlier,
  { editor, screen, view }: { readonly editor: LineEditor; readonly screen: Screen; readonly view: SessionView },
): void => {
  // Of a turn whose beginning was not read, only what still goes on matters.
  const turns: string[][] = hasMore ? [] : [[]];
  for (const event of events) {
    if (isBeginning(event)) turns.push([]);
    if (event.type === 'user_message' && event.message.sender.id !== 'natter') editor.remember(event.message.text);
    const lines = screen.printedBy(() => view.showPast(event));
    turns.at(-1)?.push(...lines);
  }
  const said = turns.filter(({ length }) => length > 0);
  const shown = lastThatFit(said, screen.rows);
  if (hasMore || shown.length < said.length)
    screen.print(pc.dim('The last of what was said; /export FILE writes all of it, and the page shows it.'));
  screen.print(...shown.flat());
  const { asked, isBusy } = view;
  if (asked !== null) screen.print(...asked.lines(screen.width));
  else if (isBusy) screen.print(pc.dim('The answer that was under way goes on.'));
};

/** That what is on the screen ends with the next line, where it does. */
export const dueReset = ({ nextResetByCall: { due, dailyAt, idleAt } }: Session): string | null => {
  if (!due) return null;
  const isDaily = dailyAt !== undefined && dailyAt <= (idleAt ?? dailyAt);
  return `Your next message begins the session anew: ${isDaily ? 'the daily reset was due' : 'this one was idle for long'}.`;
};
