import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { limits } from '../../kit/limits.ts';

/** Steps of reading that a character may cost: more than any text has that was written to be read. */
const stepsEach = 20;

/** What begins a list item, also in the middle of a paragraph. */
const item = /\n {0,3}[-*+][ \t]+(?=\S)/;
/** The quotes and lists that a line begins with, one within the other. */
const nested = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/gm;
const marker = /[>*+-]|\d+[.)]/g;
/** What the parser compares with all others in the same paragraph. */
const marks = /\*+|_+|\[/g;

const countOf = (pattern: RegExp, text: string): number => text.match(pattern)?.length ?? 0;

/**
 * About how many steps the Markdown parser takes where it takes more than a constant number for each character: each line is looked at once for
 * each quote and list around it, and each mark of emphasis or of a link is compared with the others of its paragraph.
 */
export const parsingSteps = (text: string): number => {
  const depth = (text.match(nested) ?? []).reduce((most, line) => Math.max(most, countOf(marker, line)), 0);
  const paragraphs = text.split(/\n[ \t]*\n/).flatMap((block) => block.split(item));
  return depth * text.length + paragraphs.reduce((sum, paragraph) => sum + countOf(marks, paragraph) ** 2, 0);
};

/**
 * A Markdown text as a tree, in a time that grows with its length (I11). `null`: it is longer than the longest part, or nested or marked more than
 * any text for people is, and the parser would take minutes. It counts as plain text then.
 */
export const parseMarkdown = (text: string): Root | null => {
  const isLong = text.length > limits.markdownCharacters;
  return isLong || parsingSteps(text) > stepsEach * text.length ? null : fromMarkdown(text);
};
