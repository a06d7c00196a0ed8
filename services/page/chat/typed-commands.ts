import { signal } from '@preact/signals';

/** The chat commands that were typed in this tab, by the runs that they are: the log has their answers, and not them. */
export type TypedCommands = ReadonlyMap<string, string>;

/** So many are kept for a session. */
const mostCommands = 50;
const nameOf = (key: string): string => `natter-commands:${key}`;
/** How many were noted since the page was loaded. */
const notes = signal(0);

const stored = (key: string): [string, string][] => JSON.parse(sessionStorage.getItem(nameOf(key)) ?? '[]');

/** Those typed in a session. They are kept through a reload. */
export const typedCommands = (key: string): TypedCommands => {
  void notes.value;
  return new Map(stored(key));
};

export const noteCommand = (key: string, runId: string, text: string): void => {
  sessionStorage.setItem(nameOf(key), JSON.stringify([...stored(key), [runId, text]].slice(-mostCommands)));
  notes.value = notes.peek() + 1;
};
