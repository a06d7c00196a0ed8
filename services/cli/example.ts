/** What the help of a command ends with: one example. `line` is a command line without the name of the program. */
export const example = (line: string): string => `\nExample:\n  natter ${line}`;

/** Words of the glossary that a help may use, as it explains them. */
const meanings = {
  commit: 'what was recorded in a session at once: events that belong together',
  'dead letter': 'a message that nobody could process, or that may not have arrived',
  generation: "a session's life from one reset to the next, from 1 on",
  rev: 'the number of a commit in its session, from 1 on',
  sequence: 'the number of a commit in the log of all sessions (seq)',
} as const;

/** What the help of a command explains before its example. */
export const words = (...used: readonly (keyof typeof meanings)[]): string =>
  `\nWords:\n${used.map((word) => `  ${word.padEnd(12)} ${meanings[word]}`).join('\n')}`;
