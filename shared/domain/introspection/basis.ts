import type { MemoryScope } from '../values/memory-edit.ts';
import type { Entry } from './entry.ts';

/**
 * What a memory may be based on (A7/82, I12). The introspection model also reads what pages, tools and webhooks said, and that
 * must not become a memory of a person. So only trusted lines have numbers, each change names the lines it is based on, and text
 * that only programs said is not accepted as a person's words.
 */

/**
 * Keeps the line numbers only on entries that a memory may be based on: users' messages. If added memories would belong to a
 * person, messages by programs are excluded too. The agent's own messages never count, since they may repeat a tool's output.
 */
export const withLines = (entries: readonly Entry[], reach: readonly MemoryScope[]): Entry[] => {
  const isPersonal = reach.some(({ kind }) => kind === 'person');
  return entries.map((entry) => {
    const { line: _, ...others } = entry;
    return entry.role !== 'user' || (isPersonal && entry.program) ? others : entry;
  });
};

/** The length from which a piece shared by two texts is no coincidence. */
const pieceCharacters = 24;
/** Addresses and long numbers: shorter than a piece, yet enough for fraud. */
const address = /\S*(?:@|:\/\/|www\.|\d{6})\S*/gu;
const aroundAddress = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}/]+$/gu;

const plainOf = (texts: readonly string[]): string => texts.join('\n').toLowerCase().replaceAll(/\s+/gu, ' ').trim();
const piecesOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - pieceCharacters + 1) }, (_, at) => text.slice(at, at + pieceCharacters));

/**
 * Returns a function that finds in a text what only tools and programs said: neither a numbered line nor a `known` text contains
 * it. It returns the first such piece, or `undefined`.
 */
export const borrowingFrom = (lines: readonly Entry[], known: readonly string[]): ((text: string) => string | undefined) => {
  const isStrange = ({ role, program, line }: Entry): boolean =>
    line === undefined && (role === 'toolResult' || program === true);
  const strange = plainOf(lines.flatMap((entry) => (isStrange(entry) ? [entry.text] : [])));
  const familiar = plainOf([...lines.flatMap(({ line, text }) => (line === undefined ? [] : [text])), ...known]);
  const strangePieces = new Set(piecesOf(strange));
  return (text) => {
    const plain = plainOf([text]);
    const addresses = (plain.match(address) ?? []).map((word) => word.replaceAll(aroundAddress, ''));
    const borrowed = [
      ...addresses.filter((word) => strange.includes(word)),
      ...piecesOf(plain).filter((piece) => strangePieces.has(piece)),
    ];
    return borrowed.find((piece) => !familiar.includes(piece));
  };
};
