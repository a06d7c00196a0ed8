/** The chat commands for people, in the order in which `/help` lists them: how each is written, and what it does (A11, B25). */
export const chatCommandLines: readonly (readonly [usage: string, what: string])[] = [
  ['/help', 'lists the commands'],
  ['/stop', 'stops the answer, clears the queue and ends the sub-agents'],
  ['/new [model] [text]', 'begins this session anew, perhaps with another model; /reset does the same'],
  ['/status', 'shows the model, the context, what waits and the next reset'],
  ['/context [detail]', 'shows what the model sees besides the conversation'],
  ['/usage', 'shows the tokens and the cost of this session'],
  ['/model [name]', 'shows the models, or changes the model of this session'],
  ['/think [level]', 'shows or changes how long the model thinks'],
  ['/name [text]', 'shows or changes the name of this session'],
  ['/queue [mode]', 'shows or changes what a message does while a turn runs'],
  ['/activation [mention|always]', 'shows or changes when the agent answers in a group'],
  ['/export', 'tells how to get this session as a file'],
  ['/compact [instructions]', 'replaces the older part of the conversation with a summary'],
  ['/checkpoint', 'reads what was said since the last checkpoint, for notes and memories'],
  ['/send on|off|inherit', 'switches the sending of answers for this session (owner only)'],
  ['/approve ID [always]', 'approves a tool call; the question names the ID, and the page has buttons instead'],
  ['/deny ID [reason]', 'denies a tool call'],
  ['/pair CODE', 'lets a stranger in (owner only)'],
];

/** The command words themselves, each with its `/`. */
export const chatCommandWords: readonly string[] = [
  ...chatCommandLines.map(([usage]) => usage.split(' ', 1)[0] ?? usage),
  '/reset',
];

/** Whether a line is text although it may read like a command: it has a space before the `/`. */
export const isTextBySpace = (line: string): boolean => /^\s+\//u.test(line);
