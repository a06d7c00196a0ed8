import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';
import { escapeControls, printable } from '../../shared/kit/scrub.ts';
import { cutToWidth, widthOf, wrapToWidth } from './text/text-width.ts';

/** Everything a command may use of the outside world. `main.ts` makes the real one. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Path of this program, to start it again as a child process. */
  readonly program: string;
  readonly version: string;
  /** The local time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Aborts on SIGINT or SIGTERM. A command that reads it must end by itself; one that does not is ended by the signal. */
  readonly interrupted: AbortSignal;
}

export interface Terminal {
  /** True when both input and output are a terminal, and one on which a cursor moves. */
  readonly interactive: boolean;
  /** One line of the result, on standard output. */
  out(line: string): void;
  /** Part of a line, for text that arrives in pieces. */
  write(text: string): void;
  /** One line that is not the result (a hint, a problem), on standard error. */
  note(line: string): void;
  /** Shows progress: one line that is replaced on a terminal, one line every five seconds elsewhere. */
  progress(text: string): void;
  /** Ends the progress line. */
  settled(): void;
  /** While a chat or questions have the screen, they get all text instead. `null`: it is over. */
  divert(above: ((text: string) => void) | null): void;
}

const everyMs = 5_000;
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const spinMs = 100;

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * A stream as this environment wants it: no colours in a file or a pipe, which `CI` alone would bring there, and nothing that moves in a build or
 * on a dumb terminal.
 */
export const shownOn = (stream: Stream, { TERM, CI, FORCE_COLOR }: World['env']): Stream => {
  const isTTY = stream.isTTY === true;
  const isColoured = isTTY || Boolean(FORCE_COLOR);
  return {
    isTTY: isTTY && TERM !== 'dumb' && !CI,
    get columns() {
      return stream.columns;
    },
    write: (text) => stream.write(isColoured ? text : stripVTControlCharacters(text)),
  };
};

/** A terminal on two streams. All text is made printable here: text from outside must not control the terminal. */
export const createTerminal = (options: { out: Stream; err: Stream; interactive: boolean; now: () => number }): Terminal => {
  const { out, err, interactive, now } = options;
  let shown = false;
  let last = now();
  let above: ((text: string) => void) | null = null;
  const settled = (): void => {
    clearInterval(spinning);
    if (shown && err.isTTY) err.write('\r\u001b[K');
    shown = false;
  };
  let spinning: NodeJS.Timeout | undefined;
  let frame = 0;
  /** Something moves while the work goes on. */
  const spin = (text: string): void => {
    const show = (): void => {
      err.write(`\r\u001b[K${spinner[frame % spinner.length]} ${terminalText(text)}`);
      frame += 1;
    };
    clearInterval(spinning);
    show();
    spinning = setInterval(show, spinMs).unref();
  };
  const line = (stream: Stream, text: string): void => {
    settled();
    if (above === null) stream.write(`${terminalText(text)}\n`);
    else above(terminalText(text));
  };
  return {
    interactive,
    out: (text) => line(out, text),
    write: (text) => out.write(terminalText(text)),
    note: (text) => {
      const isWrapped = above === null && err.isTTY && err.columns;
      line(err, isWrapped ? wrapToWidth(text, err.columns ?? 0, { staysWhole: true }).join('\n') : text);
    },
    progress: (text) => {
      if (err.isTTY) spin(text);
      else if (now() - last >= everyMs) {
        err.write(`${terminalText(text)}\n`);
        last = now();
      }
      shown = true;
    },
    settled,
    divert: (to) => {
      above = to;
    },
  };
};

/** Text as a terminal may have it: of escape sequences, only our own colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the character that starts a colour.
const colour = /\u001b\[(?:[1234]|2[234]|3[1-69]|90)m/g;
export const terminalText = (text: string): string => {
  const colours = text.match(colour) ?? [];
  return text
    .split(colour)
    .map((part, index) => printable(part) + (colours[index] ?? ''))
    .join('');
};

/** JSON for a program or a person. Control characters are written as JSON escapes. */
export const asJson = (value: unknown, indent = 0): string => escapeControls(JSON.stringify(value, null, indent));

/** Text from outside on one line, at most `width` characters. */
export const oneLine = (text: string, width: number): string => {
  const line = printable(text.replace(/\s+/gu, ' ')).trim();
  const characters = [...line];
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`;
};

/** Columns of the terminal; without an end where the output is none. */
export const columnsOf = ({ terminal, output }: Pick<World, 'terminal' | 'output'>): number =>
  (terminal.interactive && (output as NodeJS.WriteStream).columns) || Number.POSITIVE_INFINITY;

/** Columns of text that a narrow terminal leaves of a cell. */
const leastCell = 12;
const gap = 2;

/**
 * Lines of a table with a bold head; each column is as wide as its widest cell. Where that is more than `columns`, cells are cut, those of the last
 * column first. The first column names the row and stays whole.
 */
export const table = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string[] => {
  const widths = head.map((name, column) => Math.max(...[name, ...rows.map((row) => row[column] ?? '')].map(widthOf)));
  let over = widths.reduce((sum, width) => sum + width, gap * (widths.length - 1)) - columns;
  for (let column = widths.length - 1; column > 0 && over > 0; column -= 1) {
    const width = widths[column] ?? 0;
    const cut = Math.min(over, Math.max(0, width - leastCell));
    widths[column] = width - cut;
    over -= cut;
  }
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => fitted(cell, widths[column] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd();
  return [pc.bold(line(head)), ...rows.map(line)];
};

const fitted = (cell: string, width: number): string => {
  const shown = widthOf(cell) <= width ? cell : `${cutToWidth(cell, width - 1)[0]}…`;
  return shown + ' '.repeat(Math.max(0, width - widthOf(shown)));
};

/** The time zone of this machine; UTC where `TZ` names none that is known. */
export const machineTimeZone = (): string => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return !timeZone || timeZone === 'Etc/Unknown' ? 'UTC' : timeZone;
};
