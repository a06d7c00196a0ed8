/** What a person sees of a program's output: a terminal that scrolls without end. Knows the sequences that our chat uses, and refuses others. */
export class TerminalScreen {
  readonly #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  #rest = '';
  /** Sequences that came and are none of ours. */
  readonly strange: string[] = [];
  readonly #columns: number;

  constructor(columns = 80) {
    this.#columns = columns;
  }

  get lines(): string[] {
    return this.#lines.map((line) =>
      Array.from(line, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
  }
  get text(): string {
    return this.lines.join('\n').trimEnd();
  }
  /** The row, from 0, and the column of the cursor. */
  get cursor(): readonly [row: number, column: number] {
    return [this.#row, this.#column];
  }

  write(output: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is about them.
    const parts = (this.#rest + output).match(/\u001b\[[?\d;]*[A-Za-z]|\u001b\[?[?\d;]*$|./gsu) ?? [];
    this.#rest = '';
    for (const [index, part] of parts.entries()) {
      if (index === parts.length - 1 && part.startsWith('\u001b') && !/[A-Za-z]$/.test(part)) this.#rest = part;
      else if (part.startsWith('\u001b')) this.#control(part);
      else this.#character(part);
    }
  }

  #control(sequence: string): void {
    const [, order = ''] = sequence.split('\u001b[');
    const count = Number(/\d+/.exec(order)?.[0] ?? 1);
    if (/^(\d+m|\?2026[hl]|\?2004[hl])$/.test(order)) return;
    if (/^\d*A$/.test(order)) this.#row = Math.max(0, this.#row - count);
    else if (/^\d*C$/.test(order)) this.#column += count;
    else if (order === 'K' || order === 'J') {
      this.#here().length = Math.min(this.#here().length, this.#column);
      if (order === 'J') this.#lines.length = this.#row + 1;
    } else this.strange.push(sequence);
  }

  #character(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#next();
    else if (character < ' ' || character === '\u007f') this.strange.push(character);
    else {
      if (this.#column >= this.#columns) this.#next();
      this.#here()[this.#column] = character;
      this.#column += 1;
    }
  }

  /** The program's terminal turns a line feed into both. */
  #next(): void {
    this.#row += 1;
    this.#column = 0;
    this.#here();
  }
  #here(): string[] {
    while (this.#lines.length <= this.#row) this.#lines.push([]);
    return this.#lines[this.#row] ?? [];
  }
}
