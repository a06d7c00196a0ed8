import { widthOf, wrapToWidth } from '../text/text-width.ts';
import type { LineEditor } from './line-editor.ts';
import { layOutPrompt } from './prompt-layout.ts';

/** The output of a terminal. */
export interface ScreenOutput {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const usualColumns = 80;
const usualRows = 24;
/** Time between two paintings of text that streams; more if painting takes long. */
const frameMs = 33;
/** Share of the time that painting may take. */
const busyShare = 1 / 5;
/** The terminal shows what is between these at once. */
const frame = { begin: '\u001b[?2026h', end: '\u001b[?2026l' } as const;

/**
 * From top to bottom: lines that stay, live lines that the next ones replace, a hint, and the prompt with what is being typed. Output never mixes
 * with typing: each painting takes away all but the lines that stay, and writes it again. Text must be printable already.
 */
export class Screen {
  readonly #output: ScreenOutput;
  readonly #editor: LineEditor;
  #label = '';
  #live: readonly string[] = [];
  #hint: readonly string[] = [];
  /** Widths of the rows that were painted, up to the cursor's. */
  #painted: readonly number[] = [];
  #cursorColumn = 0;
  /** What the last painting left below the lines that stay. */
  #shown = '';
  #task: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;
  #paintMs = 0;
  #isClosed = false;
  /** Where lines go that are not printed. */
  #kept: string[] | null = null;

  constructor(output: ScreenOutput, editor: LineEditor) {
    this.#output = output;
    this.#editor = editor;
  }

  /** Columns that a line may take. */
  get width(): number {
    return Math.max(20, (this.#output.columns || usualColumns) - 1);
  }

  get rows(): number {
    return this.#output.rows || usualRows;
  }

  setLabel(label: string): void {
    this.#label = label;
  }

  /** Lines right above the prompt, until others or none are set. Shown with the next painting. */
  setHint(...lines: readonly string[]): void {
    this.#hint = lines;
  }

  /** Lines that stay, above everything that may still change, broken between words. */
  print(...lines: readonly string[]): void {
    this.#paint(lines.flatMap((line) => wrapToWidth(line, this.width, { staysWhole: true })));
  }

  /** What the work prints, which is not printed. */
  printedBy(work: () => void): string[] {
    const lines: string[] = [];
    this.#kept = lines;
    work();
    this.#kept = null;
    return lines;
  }

  /** The same, and new live lines instead of the old ones. Of more lines than fit, the last are shown. */
  show(stay: readonly string[], live: readonly string[]): void {
    this.#live = live;
    this.#paint(stay);
  }

  /** Does the newest of these tasks soon, and not more often than the eye follows. */
  soon(task: () => void): void {
    this.#task = task;
    this.#timer ??= setTimeout(() => this.flush(), Math.max(frameMs, this.#paintMs / busyShare));
  }

  /** Does the waiting task now. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const task = this.#task;
    this.#task = null;
    const began = performance.now();
    task?.();
    this.#paintMs = performance.now() - began;
  }

  repaint(): void {
    this.#paint([]);
  }

  /** Leaves an empty screen with the prompt on its first row. */
  clear(): void {
    [this.#painted, this.#cursorColumn, this.#shown] = [[], 0, ''];
    this.#output.write('\u001b[2J\u001b[3J\u001b[H');
    this.#paint([]);
  }

  /** Takes the prompt away; what was printed stays. */
  close(): void {
    this.flush();
    this.#isClosed = true;
    this.#output.write(this.#erased());
    this.#painted = [];
  }

  #erased(): string {
    const columns = this.#output.columns || usualColumns;
    const rowsOf = (width: number): number => Math.max(1, Math.ceil(width / columns));
    // A terminal that became narrower has broken the rows, also the one with the cursor.
    const broken = Math.min(Math.floor(this.#cursorColumn / columns), rowsOf(this.#painted.at(-1) ?? 0) - 1);
    const above = this.#painted.slice(0, -1).reduce((sum, width) => sum + rowsOf(width), broken);
    return `\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`;
  }

  #paint(lines: readonly string[]): void {
    if (this.#kept !== null) {
      this.#kept.push(...lines);
      return;
    }
    const stay = lines.map((line) => `${line}\n`).join('');
    if (this.#isClosed) {
      this.#output.write(stay);
      return;
    }
    const [columns, height] = [this.#output.columns || usualColumns, this.rows];
    const prompt = layOutPrompt(this.#label, this.#editor, { columns, most: Math.max(1, Math.floor(height / 2)) });
    const room = Math.max(0, height - this.#hint.length - prompt.rows.length - 1);
    const live = room === 0 ? [] : this.#live.slice(-room);
    const rows = [...live, ...this.#hint, ...prompt.rows];
    const up = prompt.rows.length - 1 - prompt.row;
    const place = `\r${up > 0 ? `\u001b[${up}A` : ''}${prompt.column > 0 ? `\u001b[${prompt.column}C` : ''}`;
    const shown = `${columns} ${rows.join('\n')}${place}`;
    if (stay === '' && shown === this.#shown) return;
    this.#shown = shown;
    this.#output.write(`${frame.begin}${this.#erased()}${stay}${rows.join('\n')}${place}${frame.end}`);
    this.#painted = rows.slice(0, rows.length - prompt.rows.length + prompt.row + 1).map(widthOf);
    this.#cursorColumn = prompt.column;
  }
}
