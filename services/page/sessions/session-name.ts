import type { SessionRow } from '../../../shared/client/main.ts';

type Named = Pick<SessionRow, 'key' | 'shownKey' | 'settings' | 'origin' | 'description'>;

/** A key as people tell sessions of one agent apart. */
export const withoutAgent = (key: string): string => key.replace(/^agent:[^:]+:/, '');
const webChat = /^agent:[^:]+:web:(.{1,4})/;

/** What people call a session: the name somebody gave it, else that of the chat it is, else its key without the agent; of a chat of this page what it is about. */
export const nameOf = ({ key, shownKey, settings, origin, description }: Named): string => {
  const given = settings.displayName || origin.displayName || origin.label;
  if (given) return given;
  const [, start] = webChat.exec(key) ?? [];
  return start === undefined ? withoutAgent(shownKey) : description || `Chat ${start}`;
};

/** The key of a session without the agent, where it has the words that are searched for and its name has not; else `null`. */
export const foundKeyOf = (row: Named, words: string): string | null => {
  const [key, wanted] = [withoutAgent(row.shownKey), withoutAgent(words.toLowerCase())];
  const isFound = wanted !== '' && key.toLowerCase().includes(wanted) && !nameOf(row).toLowerCase().includes(wanted);
  return isFound ? key : null;
};

/** What people call a session of which only the key is at hand: by its row in the list, else its key without the agent. */
export const nameOfKey = (key: string, rows: readonly SessionRow[] | null, shownKey = key): string => {
  const row = rows?.find((each) => each.key === key);
  return row === undefined ? withoutAgent(shownKey) : nameOf(row);
};
