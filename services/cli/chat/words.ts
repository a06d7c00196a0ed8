import { chatCommandIn } from '../../../shared/domain/routing/chat-command.ts';
import { chatCommandLines, chatCommandWords, isTextBySpace } from '../../../shared/domain/routing/chat-help.ts';
import { refusalOfLine, sendChoices } from '../../../shared/domain/routing/misspelt-command.ts';
import { oneLine } from '../terminal.ts';
import { wrapToWidth } from '../text/text-width.ts';

/** What a line at the terminal means. */
export type Line =
  | { readonly type: 'leave' }
  | { readonly type: 'help' }
  | { readonly type: 'clear' }
  | { readonly type: 'export'; readonly file: string }
  | { readonly type: 'sending' }
  | { readonly type: 'refused'; readonly why: string }
  | { readonly type: 'send'; readonly text: string };

const leaving: ReadonlySet<string> = new Set(['/quit', '/exit', 'quit', 'exit']);
/** Words of the terminal itself. */
const ownLines = (leaving: string) =>
  [
    ['/export FILE', 'writes this session to a Markdown file'],
    ['/clear', 'clears the screen'],
    ['/quit', `${leaving}; so do quit, exit and Ctrl-D`],
  ] as const;
const keysText = (leaving: string): string[] => [
  'Alt-Enter begins a new line; a paste of several lines is one message; ↑ and ↓ are the history; Tab completes a command.',
  `Ctrl-C stops the answer and clears what waits; pressed again, it ${leaving}. A space before the / sends the line to the model.`,
];
/** How the model gets to run programs, where it may not: whoever asks it to is told that it cannot. */
const programsText = [
  'The model may not run programs (exec). To let it, each time with your approval, put this into ~/.natter/natter.json and',
  'restart "natter up": agent: { workspace: "~/.natter/workspace" }, tools: { exec: { enabled: true } }',
].join(' ');

/** What the terminal knows besides. */
export interface Known {
  /** What each skill is for, by its command without `/`. */
  readonly skills: ReadonlyMap<string, string>;
  /** Further words that begin a new session. */
  readonly triggers: readonly string[];
  /** What leaving does: the chat of `natter up` stops everything with it. */
  readonly leaving: 'leaves' | 'stops everything';
  /** The model has the tool `exec`. */
  readonly hasPrograms: boolean;
}

/** Words that Tab completes. */
export const completedWords = ({ skills, triggers, leaving }: Known): string[] => [
  ...[
    ...chatCommandWords,
    ...ownLines(leaving)
      .slice(1)
      .map(([word]) => word),
    ...[...skills.keys()].map((name) => `/${name}`),
  ],
  ...triggers.filter((word) => word.startsWith('/')),
];

/** `/send` alone, at the terminal: what it is now and what it can be. */
export const sendingText = (policy: 'allow' | 'deny' | undefined): string => {
  const now = policy === undefined ? 'inherit' : policy === 'allow' ? 'on' : 'off';
  return `Sending: ${now}\nChoices: ${sendChoices}\nChange it with /send <choice>; inherit makes it as configured.`;
};

const refused = (why: string): Line => ({ type: 'refused', why });

/** Whether a line that is sent is a command of the chat, and no message. */
export const isCommand = (text: string, known: Known): boolean => !isTextBySpace(text) && chatCommandIn(text, known) !== null;

/** What a line means. The rule for what is refused is that of every chat of ours. */
export const lineMeaning = (text: string, known: Known): Line => {
  const said = text.trim().toLowerCase();
  if (leaving.has(said)) return { type: 'leave' };
  if (said === '/help' || said === '/?') return { type: 'help' };
  if (said === '/clear') return { type: 'clear' };
  if (said === '/send') return { type: 'sending' };
  if (said === '/export') return refused('Name a file that does not exist yet: /export chat.md');
  const file = /^\/export\s+(.+)$/iu.exec(text.trim())?.[1];
  if (file !== undefined) return { type: 'export', file };
  const words = completedWords(known);
  const why = refusalOfLine(text, { triggers: known.triggers, words, usages: ['/clear', ...leaving] });
  return why === null ? { type: 'send', text } : refused(why);
};

/** Of what a command does, on a narrow terminal. */
const leastColumns = 20;

/** As many words of a text as fit on one line. */
const firstWords = (text: string, columns: number): string => {
  const [first = '', ...others] = wrapToWidth(oneLine(text, Number.POSITIVE_INFINITY), columns);
  return others.length === 0 ? first : `${wrapToWidth(first, columns - 1)[0]}…`;
};

/** `/help`, at the terminal: each command with a line, then the keys, in lines of at most `columns`. */
export const helpLines = ({ skills, leaving, hasPrograms }: Known, columns: number): string[] => {
  // The terminal's own /export stands for that of every channel.
  const commands = [...chatCommandLines.filter(([usage]) => usage !== '/export'), ...ownLines(leaving)];
  const skillWords = [...skills.keys()].map((name) => `/${name}`);
  const width = Math.max(...[...commands.map(([usage]) => usage), ...skillWords].map(({ length }) => length));
  const room = Math.max(leastColumns, columns - width - 2);
  const lines = commands.flatMap(([usage, what]) =>
    wrapToWidth(what, room).map((line, index) => `${(index === 0 ? usage : '').padEnd(width)}  ${line}`),
  );
  const skillLines = [...skills].map(([name, purpose]) => `${`/${name}`.padEnd(width)}  ${firstWords(purpose, room)}`);
  const notes = [...keysText(leaving), ...(hasPrograms ? [] : [programsText])];
  return [
    ...lines,
    ...(skillLines.length === 0 ? [] : ['', 'Skills of the agent:', ...skillLines]),
    '',
    ...notes.flatMap((line) => wrapToWidth(line, columns)),
  ];
};
