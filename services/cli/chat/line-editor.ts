import { printable } from '../../../shared/kit/scrub.ts';
import { graphemesOf } from '../text/text-width.ts';

/** A key as `readline.emitKeypressEvents` names it. `text`: what it types. */
export interface Key {
  readonly text?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}
/** What a key did besides changing the text. */
export type Pressed =
  | { readonly type: 'changed' }
  /** Tab found several words, and nothing that they all go on with. */
  | { readonly type: 'choices'; readonly words: readonly string[] }
  /** Part of a paste: show nothing yet. */
  | { readonly type: 'pasting' }
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'interrupt' }
  | { readonly type: 'end' }
  | { readonly type: 'clear' };

const historyLines = 500;
const changed = { type: 'changed' } as const;

/** The text that a person is writing: one or several lines, with a history. Knows nothing of the screen. */
export class LineEditor {
  text = '';
  /** Position in the text, between two characters as people see them. */
  cursor = 0;
  readonly #history: string[] = [];
  /** The place in the history; its length: the text that is being written, which `#draft` keeps meanwhile. */
  #place = 0;
  #draft = '';
  #paste: string[] | null = null;
  /** Words that Tab completes at the beginning of the text. */
  readonly #words: readonly string[];

  constructor(words: readonly string[] = []) {
    this.#words = words;
  }

  /** Adds a line to the history. */
  remember(line: string): void {
    if (line.trim() !== '' && this.#history.at(-1) !== line) this.#history.push(line);
    if (this.#history.length > historyLines) this.#history.shift();
    this.#place = this.#history.length;
  }

  press(key: Key): Pressed {
    if (key.name === 'paste-start') this.#paste = [];
    else if (key.name === 'paste-end') this.#endPaste();
    else if (this.#paste !== null) this.#paste.push(key.name === 'return' ? '\n' : (key.text ?? ''));
    else return this.#pressed(key);
    return this.#paste === null ? changed : { type: 'pasting' };
  }

  /** Takes the text away. */
  clear(): void {
    this.#set('');
    this.#place = this.#history.length;
  }

  #endPaste(): void {
    const pasted = (this.#paste ?? []).join('').replaceAll('\r\n', '\n').replaceAll('\r', '\n');
    this.#paste = null;
    this.#insert(printable(pasted));
  }

  #pressed(key: Key): Pressed {
    const { name = '', text = '', ctrl = false, meta = false } = key;
    if (name === 'return' || name === 'enter') {
      if (!meta) return this.#line();
      this.#insert('\n');
      return changed;
    }
    if (ctrl && name === 'c') return { type: 'interrupt' };
    if (ctrl && name === 'l') return { type: 'clear' };
    if (ctrl && name === 'd' && this.text === '') return { type: 'end' };
    if (name === 'tab' && !ctrl && !meta) return this.#complete();
    const move = this.#moves[`${ctrl ? 'ctrl-' : ''}${meta ? 'alt-' : ''}${name}`];
    if (move !== undefined) move();
    else if (!ctrl && !meta) this.#insert(printable(text));
    return changed;
  }

  #line(): Pressed {
    const { text } = this;
    this.remember(text);
    this.clear();
    return { type: 'line', text };
  }

  readonly #moves: Readonly<Record<string, () => void>> = this.#keys({
    'left ctrl-b': () => this.#moveTo(this.#before()),
    'right ctrl-f': () => this.#moveTo(this.#after()),
    'home ctrl-a': () => this.#moveTo(this.#lineStart()),
    'end ctrl-e': () => this.#moveTo(this.#lineEnd()),
    'alt-b ctrl-left alt-left': () => this.#moveTo(this.#wordStart()),
    'alt-f ctrl-right alt-right': () => this.#moveTo(this.#wordEnd()),
    'backspace ctrl-h': () => this.#cut(this.#before(), this.cursor),
    'delete ctrl-d': () => this.#cut(this.cursor, this.#after()),
    'ctrl-w alt-backspace': () => this.#cut(this.#wordStart(), this.cursor),
    'alt-d': () => this.#cut(this.cursor, this.#wordEnd()),
    'ctrl-u': () => this.#cut(this.#lineStart(), this.cursor),
    'ctrl-k': () => this.#cut(this.cursor, this.#lineEnd()),
    'up ctrl-p': () => this.#up(),
    'down ctrl-n': () => this.#down(),
  });

  /** Several keys, separated by blanks, may do the same. */
  #keys(moves: Readonly<Record<string, () => void>>): Readonly<Record<string, () => void>> {
    return Object.fromEntries(Object.entries(moves).flatMap(([keys, move]) => keys.split(' ').map((key) => [key, move])));
  }

  #set(text: string, cursor = text.length): void {
    this.text = text;
    this.cursor = cursor;
  }
  #moveTo(cursor: number): void {
    this.cursor = cursor;
  }
  #insert(text: string): void {
    this.#set(this.text.slice(0, this.cursor) + text + this.text.slice(this.cursor), this.cursor + text.length);
  }
  #cut(from: number, to: number): void {
    this.#set(this.text.slice(0, from) + this.text.slice(to), from);
  }

  #before(): number {
    return (
      this.cursor - (graphemesOf(this.text.slice(this.#lineStart(), this.cursor)).at(-1) ?? (this.cursor > 0 ? '\n' : '')).length
    );
  }
  #after(): number {
    return this.cursor + (graphemesOf(this.text.slice(this.cursor, this.#lineEnd()))[0] ?? this.text[this.cursor] ?? '').length;
  }
  #lineStart(): number {
    return this.text.slice(0, this.cursor).lastIndexOf('\n') + 1;
  }
  #lineEnd(): number {
    const end = this.text.indexOf('\n', this.cursor);
    return end === -1 ? this.text.length : end;
  }
  #wordStart(): number {
    return /\S*\s*$/u.exec(this.text.slice(0, this.cursor))?.index ?? 0;
  }
  #wordEnd(): number {
    return this.cursor + (/^\s*\S*/u.exec(this.text.slice(this.cursor))?.[0].length ?? 0);
  }

  /** The text is an entry of the history as it was brought back, and up goes to the one before it, as in a shell. */
  get #browses(): boolean {
    return this.#place > 0 && this.cursor === this.text.length && this.text === this.#history[this.#place];
  }
  /** Up and down move between the lines of the text; beyond its first and last line, in the history. */
  #up(): void {
    const start = this.#lineStart();
    if (start > 0 && !this.#browses) return this.#toLine(this.text.slice(0, start - 1).lastIndexOf('\n') + 1);
    if (this.#place > 0) this.#recall(this.#place - 1);
  }
  #down(): void {
    const end = this.#lineEnd();
    if (end < this.text.length) return this.#toLine(end + 1);
    if (this.#place < this.#history.length) this.#recall(this.#place + 1);
  }
  #toLine(start: number): void {
    const column = this.cursor - this.#lineStart();
    this.cursor = start;
    this.cursor = Math.min(start + column, this.#lineEnd());
  }
  #recall(place: number): void {
    if (this.#place === this.#history.length) this.#draft = this.text;
    this.#place = place;
    this.#set(this.#history[place] ?? this.#draft);
  }

  /** Completes the word at the beginning as far as it is certain. */
  #complete(): Pressed {
    const found = this.#words.filter((word) => this.text.startsWith('/') && word.startsWith(this.text));
    const [first = this.text] = found;
    let length = first.length;
    while (!found.every((word) => word.startsWith(first.slice(0, length)))) length -= 1;
    if (found.length > 1 && length === this.text.length) return { type: 'choices', words: found };
    this.#set(found.length === 1 ? `${first} ` : first.slice(0, length));
    return changed;
  }
}
