import type { SessionRow } from '../../../shared/client/main.ts';
import { oneLine, plainText } from '../parts/one-line.ts';

export type Named = Pick<
  SessionRow,
  'key' | 'shownKey' | 'settings' | 'origin' | 'description' | 'firstWords' | 'firstWordsEndedSeq'
>;

/** A key as people tell sessions of one agent apart. */
export const withoutAgent = (key: string): string => key.replace(/^agent:[^:]+:/, '');
/** Keys of chats on this page, of sub-agents, and of calls that named none or were given one by a hash: they say nothing to people. */
const sayingNothing =
  /^agent:[^:]+:(?:web:(.{1,4})|api:(?:openai|openai-user|openai-unstored|chat)-([\w-]{4})[\w-]{18}$|subagent:.*(\w{4})$)/;

/** The longest title that is made of a message. */
const titleCharacters = 48;

/** The first words of a message as a title: without marks and directives to the offline model, cut at a word. */
const titleOf = (firstWords: string): string => {
  const plain = plainText(firstWords).trim();
  const words = plain.replace(/\[\[.*?(\]\]|$)/gu, '').trim() || plain;
  const shown = oneLine(words, titleCharacters);
  const end = shown.endsWith('…') ? shown.lastIndexOf(' ') : -1;
  return end > titleCharacters / 2 ? `${shown.slice(0, end)}…` : shown;
};

/** Characters that change the writing direction: in a name they would turn the page's own words around it. */
const directions = /[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * What people call a session: the name somebody gave it, else that of the chat it is, else its key without the agent; where that says
 * nothing, the first words, else what it is about.
 */
export const nameOf = (row: Named): string => calledName(row).replaceAll(directions, '');

/** The name with the session's icon before it, where a view shows what the session is. */
export const nameWithIcon = (row: Named): string =>
  row.settings.icon === undefined ? nameOf(row) : `${row.settings.icon} ${nameOf(row)}`;

const calledName = ({ key, shownKey, settings, origin, description, firstWords }: Named): string => {
  const given = settings.displayName || origin.displayName || origin.label;
  if (given) return given;
  const random = sayingNothing.exec(key);
  if (random === null) return withoutAgent(shownKey);
  const unnamed = random[3] === undefined ? `Chat ${random[1] ?? random[2]}` : `Sub-agent ${random[3]}`;
  return titleOf(firstWords ?? '') || description || unnamed;
};

/** The name of a session of which nothing is at hand but its key, and perhaps the name that it was given. */
export const nameBy = (key: string, displayName?: string): string =>
  nameOf({
    key: key as Named['key'],
    shownKey: key,
    settings: { ...(displayName && { displayName }) },
    origin: {},
    description: '',
    firstWords: '',
  });

/** The key of a session without the agent, where it has the words that are searched for and its name has not; else `null`. */
export const foundKeyOf = (row: Named, words: string): string | null => {
  const [key, wanted] = [withoutAgent(row.shownKey), withoutAgent(words.toLowerCase())];
  const isFound = wanted !== '' && key.toLowerCase().includes(wanted) && !nameOf(row).toLowerCase().includes(wanted);
  return isFound ? key : null;
};

/** Whether these words are the name of a session, or its key. */
const isCalled = (row: Named, words: string): boolean =>
  [nameOf(row), row.key, row.shownKey, withoutAgent(row.key)].some((name) => name.toLowerCase() === words);

/** Rows in their order, but first those that are called exactly so. */
export const exactFirst = <Row extends Named>(rows: readonly Row[], words: string): readonly Row[] => {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return rows;
  const exact = rows.filter((row) => isCalled(row, wanted));
  return exact.length === 0 ? rows : [...exact, ...rows.filter((row) => !exact.includes(row))];
};
