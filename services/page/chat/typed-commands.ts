/** The chat commands that were typed in this tab, by the runs that they are: the log has their answers, and not them. */
export type TypedCommands = ReadonlyMap<string, string>;

/** So many are kept for a session. */
const mostCommands = 50;
const nameOf = (key: string): string => `natter-commands:${key}`;

export const typedCommands = (key: string): TypedCommands =>
  new Map(JSON.parse(sessionStorage.getItem(nameOf(key)) ?? '[]') as [string, string][]);

/** The same with one more, kept through a reload. */
export const withCommand = (key: string, before: TypedCommands, runId: string, text: string): TypedCommands => {
  const all = [...before, [runId, text] as const].slice(-mostCommands);
  sessionStorage.setItem(nameOf(key), JSON.stringify(all));
  return new Map(all);
};
