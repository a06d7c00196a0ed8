/** What the help of a command ends with: one example. `line` is a command line without the name of the program. */
export const example = (line: string): string => `\nExample:\n  natter ${line}`;
