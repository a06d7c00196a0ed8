import { cutToWidth, widthOf } from '../text/text-width.ts';

/** A prompt and what is written after it, as rows of a terminal, and where the cursor stands in them. */
export interface PromptLayout {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
}

/**
 * Lays out the text behind its label; further lines are indented by as much. At most `most` rows are shown, those around the cursor. `columns` is
 * the width of the terminal; its last column stays free, where terminals differ in what they do.
 */
export const layOutPrompt = (
  label: string,
  { text, cursor }: { readonly text: string; readonly cursor: number },
  { columns, most }: { readonly columns: number; readonly most: number },
): PromptLayout => {
  const indent = widthOf(label);
  const width = Math.max(8, columns - 1 - indent);
  const cut = (part: string): string[] =>
    part
      .replaceAll('\t', ' ')
      .split('\n')
      .flatMap((line) => cutToWidth(line, width));
  const all = cut(text);
  const before = cut(text.slice(0, cursor));
  let row = before.length - 1;
  let column = indent + widthOf(before.at(-1) ?? '');
  // Behind a full row the next character begins another one.
  if (column >= indent + width && row < all.length - 1 && text[cursor] !== '\n') [row, column] = [row + 1, indent];
  const first = Math.max(0, Math.min(row - most + 1, all.length - most));
  const from = Math.min(row, first);
  const rows = all
    .slice(from, from + most)
    .map((line, index) => `${index === 0 && from === 0 ? label : ' '.repeat(indent)}${line}`);
  return { rows, row: row - from, column };
};
