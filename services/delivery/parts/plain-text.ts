import type { Nodes, Parents } from 'mdast';
import { parseMarkdown } from '../../../shared/runtime/text/parse-markdown.ts';
import { type Range, rangeOf } from './markdown.ts';

interface Change extends Range {
  readonly text: string;
}

/** A Markdown text without its marks; a link keeps its address. Lists, quotes and what is not Markdown stay as they are. */
export const plainTextOf = (markdown: string): string => {
  const changes: Change[] = [];
  // A stack of its own: what a model writes may be nested deeper than calls can be.
  const root = parseMarkdown(markdown);
  const left: (Nodes | Change)[] = root === null ? [] : [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (!('type' in node)) changes.push(node);
    else if ('children' in node) left.push(...contentOf(node).toReversed());
    else if (node.type === 'image' || node.type === 'imageReference') changes.push({ ...rangeOf(node), text: node.alt ?? '' });
    else if (node.type === 'text' || node.type === 'inlineCode' || node.type === 'code')
      changes.push({ ...rangeOf(node), text: node.value });
  }
  const pieces = changes.map(({ start, text }, index) => markdown.slice(changes[index - 1]?.end ?? 0, start) + text);
  return pieces.join('') + markdown.slice(changes.at(-1)?.end ?? 0);
};

/** What is in a node, in order, with its marks changed. */
const contentOf = (node: Parents): (Nodes | Change)[] => {
  const [first, last, { start, end }] = [node.children[0], node.children.at(-1), rangeOf(node)];
  if (!markedTypes.has(node.type) || first === undefined || last === undefined) return node.children;
  const [before, after] = [rangeOf(first).start, rangeOf(last).end];
  return [{ start, end: before, text: '' }, ...node.children, { start: after, end, text: addressOf(node) }];
};

const markedTypes: ReadonlySet<string> = new Set<Nodes['type']>(['emphasis', 'strong', 'heading', 'link', 'linkReference']);

/** ` (address)` behind the words of a link, unless they are the address. */
const addressOf = (node: Nodes): string => {
  if (node.type !== 'link') return '';
  const [only] = node.children;
  const isItself = only?.type === 'text' && node.url.replace(/^mailto:/, '') === only.value;
  return isItself ? '' : ` (${node.url})`;
};
