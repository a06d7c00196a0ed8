import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';
import { widthOf, wrapToWidth } from './text-width.ts';

/** Shows the tables of answers on a terminal. The parser takes them for paragraphs, as plain CommonMark has none. */

type Alignment = 'left' | 'right' | 'center';
/** The rows of a table, the header first, each with as many cells as there are alignments; and the lines of text above it. */
export interface Table {
  readonly above: string;
  readonly alignments: readonly Alignment[];
  readonly rows: readonly (readonly string[])[];
}

const delimiters = /^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$/;
const separator = ' │ ';
const leastCell = 4;

/** The cells of a line: what is between `|`, where there is no `\` before it. */
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

const alignmentOf = (cell: string): Alignment => {
  if (!cell.endsWith(':')) return 'left';
  return cell.startsWith(':') ? 'center' : 'right';
};

/** The table in the lines of a paragraph, as they are written; `null` if there is none. */
export const tableIn = (lines: readonly string[]): Table | null => {
  const at = lines.findIndex((line, index) => index > 0 && line.includes('|') && delimiters.test(line));
  if (at < 1) return null;
  const alignments = cellsOf(lines[at] ?? '').map(alignmentOf);
  const [header = [], ...rows] = [...lines.slice(at - 1, at), ...lines.slice(at + 1)].map(cellsOf);
  if (header.length !== alignments.length) return null;
  const whole = (cells: readonly string[]): string[] => alignments.map((_, column) => cells[column] ?? '');
  return { above: lines.slice(0, at - 1).join('\n'), alignments, rows: [header, ...rows.map(whole)] };
};

/** Takes room from the widest column until all fit; `null` if they cannot. */
const fitted = (widths: readonly number[], room: number): number[] | null => {
  const fitting = [...widths];
  for (let over = fitting.reduce((sum, width) => sum + width, 0) - room; over > 0; over -= 1) {
    const most = Math.max(...fitting);
    if (most <= leastCell) return null;
    fitting[fitting.indexOf(most)] = most - 1;
  }
  return fitting;
};

const aligned = (text: string, width: number, alignment: Alignment): string => {
  const free = Math.max(0, width - widthOf(text));
  const left = { left: 0, right: free, center: Math.floor(free / 2) }[alignment];
  return `${' '.repeat(left)}${text}${' '.repeat(free - left)}`;
};

/** A colour that went on in the next line would colour the other columns. */
const cellLines = (cell: string, room: number): string[] =>
  widthOf(cell) <= room ? [cell] : wrapToWidth(stripVTControlCharacters(cell), room);

/** The rows of a table, whose cells are rendered already, as lines of at most `width` columns; `null` if it has too many columns for that. */
export const tableLines = ({ rows, alignments }: Omit<Table, 'above'>, width: number): string[] | null => {
  const wished = alignments.map((_, column) => Math.max(1, ...rows.map((row) => widthOf(row[column] ?? ''))));
  const widths = fitted(wished, width - separator.length * (alignments.length - 1));
  if (widths === null) return null;
  const lines = rows.map((row, index) => {
    const cells = widths.map((room, column) => cellLines(row[column] ?? '', room));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) => {
      const parts = widths.map((room, column) => {
        const text = aligned(cells[column]?.[line] ?? '', room, alignments[column] ?? 'left');
        return index === 0 ? pc.bold(text) : text;
      });
      return parts.join(pc.dim(separator)).trimEnd();
    });
  });
  const rule = pc.dim(widths.map((room) => '─'.repeat(room)).join('─┼─'));
  return lines.flatMap((row, index) => (index === 0 ? [...row, rule] : row));
};
