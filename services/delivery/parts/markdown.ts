import type { Nodes } from 'mdast';
import { limits } from '../../../shared/kit/limits.ts';
import { parseMarkdown } from '../../../shared/runtime/text/parse-markdown.ts';

/** A range of a text: from `start` up to, but without, `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export const rangeOf = ({ position }: Nodes): Range => ({
  start: position?.start.offset ?? 0,
  end: position?.end.offset ?? 0,
});

/** A code block between fences. */
export interface FencedCode extends Range {
  /** The code without its fences. */
  readonly code: Range;
  /** The line that opens it again. */
  readonly fence: string;
}

export interface MarkdownShape {
  /** Where paragraphs, lists, code and other blocks of the text begin. */
  readonly blocks: ReadonlySet<number>;
  readonly fences: readonly FencedCode[];
  /** Links, emphasis and other marks within a line: a cut inside would break them. */
  readonly spans: readonly Range[];
}

/** A text without any Markdown in it. */
export const plainShape: MarkdownShape = { blocks: new Set(), fences: [], spans: [] };

/** What the cutter needs to know about a Markdown text. */
export const shapeOf = (text: string): MarkdownShape => {
  const root = parseMarkdown(text);
  if (root === null) return plainShape;
  const blocks = new Set<number>();
  const fences: FencedCode[] = [];
  const spans: Range[] = [];
  for (const block of root.children) blocks.add(rangeOf(block).start);
  // A stack of its own: what a model writes may be nested deeper than calls can be.
  const left: Nodes[] = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    const range = rangeOf(node);
    const fenced = node.type === 'code' ? fencedCodeOf(text, range) : null;
    if (fenced !== null) fences.push(fenced);
    if (inlineTypes.has(node.type)) spans.push(range);
    else if ('children' in node) left.push(...node.children.toReversed());
  }
  return { blocks, fences, spans };
};

const inlineTypes: ReadonlySet<string> = new Set<Nodes['type']>([
  ...(['emphasis', 'strong', 'delete', 'inlineCode', 'link', 'linkReference', 'image', 'imageReference', 'html'] as const),
]);

/** The marks of a fence with what stands before and behind them in its line. */
const openingLine = /^([^`~]*)(`{3,}|~{3,})(.*)$/s;

const fencedCodeOf = (text: string, { start, end }: Range): FencedCode | null => {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', start);
  const [, before = '', marks = '', info = ''] = openingLine.exec(text.slice(lineStart, lineEnd)) ?? [];
  if (lineEnd < 0 || lineEnd >= end || marks === '') return null;
  const lastLine = text.lastIndexOf('\n', end - 1) + 1;
  const isClosed =
    lastLine > lineEnd &&
    text
      .slice(lastLine, end)
      .replace(/^[\s>]*/, '')
      .startsWith(marks);
  const opening = [before.replace(/[^>\s]/g, ' ').replace(/ {4,}$/, '   ') + marks, info.trimEnd()];
  const fence = opening.join('').length <= limits.fenceCharacters ? opening.join('') : (opening[0] ?? '');
  if (fence.length > limits.fenceCharacters) return null;
  return { start: lineStart, end, code: { start: lineEnd + 1, end: isClosed ? lastLine : end }, fence };
};

/** The line that closes what `fence` opens. */
export const closingOf = (fence: string): string => /^[^`~]*(`{3,}|~{3,})/.exec(fence)?.[0] ?? '';
