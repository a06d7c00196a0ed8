import type { MemoryScope } from '../values/memory-edit.ts';
import type { Entry } from './entry.ts';

/**
 * Whose word a memory may rest on (A7/82, I12). What a page, a tool or a webhook says is read by the model that looks back, and must not
 * become what is remembered of a person. So the lines that count have numbers, each change names those that it rests on, and what only
 * programs have said is not taken for a person's words.
 */

/**
 * Leaves a number to the lines that a memory may rest on alone: messages. Where what is added is a person's, the session is theirs alone, and
 * only what no program said counts. What the agent said never does: a tool may have put it in its mouth.
 */
export const withLines = (entries: readonly Entry[], reach: readonly MemoryScope[]): Entry[] => {
  const isPersonal = reach.some(({ kind }) => kind === 'person');
  return entries.map((entry) => {
    const { line: _, ...others } = entry;
    return entry.role !== 'user' || (isPersonal && entry.program) ? others : entry;
  });
};

/** Characters that two texts have in common by no accident. */
const pieceCharacters = 24;
/** Addresses and long numbers: short, and all that a swindler needs. */
const address = /\S*(?:@|:\/\/|www\.|\d{6})\S*/gu;
const aroundAddress = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}/]+$/gu;

const plainOf = (texts: readonly string[]): string => texts.join('\n').toLowerCase().replaceAll(/\s+/gu, ' ').trim();
const piecesOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - pieceCharacters + 1) }, (_, at) => text.slice(at, at + pieceCharacters));

/** Finds in a text what programs and tools alone have said, and neither a line that counts nor what is `known`; `undefined`: nothing. */
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
