import type { BlockContent, DefinitionContent, Nodes, Paragraph, Parents, PhrasingContent, RootContent } from 'mdast';
import pc from 'picocolors';
import { printable } from '../../../shared/kit/scrub.ts';
import { parseMarkdown } from '../../../shared/runtime/text/parse-markdown.ts';
import { tableIn, tableLines } from './table.ts';
import { cutToWidth, widthOf, wrapToWidth } from './text-width.ts';

/** Shows the Markdown of answers on a terminal. */

/** One block of a text, rendered. `start`: where it begins in the text, in characters. */
export interface RenderedBlock {
  readonly start: number;
  readonly lines: readonly string[];
}

/**
 * Each block of a Markdown text (paragraph, list, code, …) as lines of at most `width` columns. Nothing in the text controls the terminal: what
 * it writes as a character reference does not either. A text that is too intricate to parse is one block of plain text.
 */
export const markdownBlocks = (text: string, width: number): readonly RenderedBlock[] => {
  const root = parseMarkdown(text);
  if (root === null) return [{ start: 0, lines: wrapToWidth(printable(text), width) }];
  return root.children.map((node) => ({ start: node.position?.start.offset ?? 0, lines: blockLines(node, width, text) }));
};

/** A whole Markdown text as lines of at most `width` columns. */
export const markdownLines = (text: string, width: number): string[] =>
  spaced(markdownBlocks(text, width).map(({ lines }) => lines));

type Join = (blocks: readonly (readonly string[])[]) => string[];
/** Blocks with an empty line between them. */
const spaced: Join = (blocks) => blocks.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
const close: Join = (blocks) => blocks.flat();

const leastColumns = 10;
const ruleColumns = 40;

/** `text`: what the blocks are from. */
const blockLines = (node: RootContent, width: number, text: string): readonly string[] => {
  switch (node.type) {
    case 'heading':
      return wrapToWidth(pc.bold(node.depth === 1 ? pc.underline(inlineOf(node)) : inlineOf(node)), width);
    case 'paragraph':
      return tableOf(node, width, text) ?? wrapToWidth(inlineOf(node), width);
    case 'code':
      return codeLines(node.value, width);
    case 'blockquote':
      return indented(spaced, node.children, pc.dim('│ '), pc.dim('│ '), { width, text });
    case 'list': {
      const first = node.start ?? 1;
      const join = node.spread === true || node.children.some(({ spread }) => spread === true) ? spaced : close;
      const items = node.children.map(({ children }, index) => {
        const mark = node.ordered === true ? `${first + index}. ` : '• ';
        return indented(join, children, mark, ' '.repeat(mark.length), { width, text });
      });
      return join(items);
    }
    case 'thematicBreak':
      return [pc.dim('─'.repeat(Math.min(width, ruleColumns)))];
    case 'html':
      return wrapToWidth(printable(node.value), width);
    case 'definition':
      return wrapToWidth(printable(`[${node.label ?? node.identifier}]: ${node.url}`), width);
    default:
      return wrapToWidth(inlineText(node), width);
  }
};

/** Code keeps its white space; a line that is too long goes on in the next row. */
const codeLines = (code: string, width: number): string[] =>
  printable(code)
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((line) => cutToWidth(line, Math.max(leastColumns, width - 2)))
    .map((line) => (line === '' ? '' : `  ${pc.cyan(line)}`));

/** Blocks inside another one. `first` begins their first line, `rest` all others. */
const indented = (
  join: Join,
  blocks: readonly (BlockContent | DefinitionContent)[],
  first: string,
  rest: string,
  { width, text }: { readonly width: number; readonly text: string },
): string[] => {
  const room = Math.max(leastColumns, width - widthOf(first));
  const lines = join(blocks.map((block) => blockLines(block, room, text)));
  return (lines.length === 0 ? [''] : lines).map((line, index) => `${index === 0 ? first : rest}${line}`.trimEnd());
};

/** A paragraph that is a table, or ends with one. A cell is Markdown of its own; `null`: there is no table, or no room for it. */
const tableOf = ({ position }: Paragraph, width: number, text: string): readonly string[] | null => {
  const written = text.slice(position?.start.offset, position?.end.offset);
  const table = written.includes('|') ? tableIn(written.split('\n').map((line) => line.replace(/^[ \t>]+/, ''))) : null;
  if (table === null) return null;
  const rows = table.rows.map((row) => row.map(cellText));
  const lines = tableLines({ ...table, rows }, width);
  return lines && (table.above === '' ? lines : [...markdownLines(table.above, width), ...lines]);
};
const cellText = (written: string): string => {
  // Columns are counted, and a tab has as many as the terminal likes.
  const cell = written.replaceAll('\t', ' ');
  const [block] = parseMarkdown(cell)?.children ?? [];
  return block?.type === 'paragraph' ? inlineOf(block) : printable(cell);
};

const inlineOf = ({ children }: { readonly children: readonly PhrasingContent[] }): string => children.map(inlineText).join('');

const inlineText = (node: Nodes): string => {
  switch (node.type) {
    case 'strong':
      return pc.bold(inlineOf(node));
    case 'emphasis':
      return pc.italic(inlineOf(node));
    case 'inlineCode':
      return pc.cyan(printable(node.value));
    case 'break':
      return '\n';
    case 'link':
      return linkText(inlineOf(node), printable(node.url));
    case 'image':
      return linkText(printable(node.alt ?? ''), printable(node.url));
    default:
      if ('value' in node) return printable(node.value);
      return 'children' in node ? (node as Parents).children.map(inlineText).join('') : '';
  }
};

/** The address is always shown: a text could claim another one. */
const linkText = (text: string, url: string): string =>
  text === '' || text === url || `mailto:${text}` === url ? pc.underline(url) : `${text} (${pc.underline(url)})`;
