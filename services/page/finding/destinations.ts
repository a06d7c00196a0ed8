/** Where the palette leads, and which of these places fit what somebody types. */

export interface Destination {
  /** Unlike that of any other. */
  readonly id: string;
  readonly words: string;
  /** Stands before the words, and is no part of what is typed. */
  readonly icon?: string | undefined;
  /** What else it is found by. */
  readonly says: string;
  go(): void;
}

/** Without case and accents: people leave both out. */
const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

const rankOf = ({ words, says }: Pick<Destination, 'words' | 'says'>, typed: string): number | null => {
  const [name, what] = [folded(words), folded(says)];
  const parts = typed.split(/\s+/).filter((part) => part !== '');
  if (!parts.every((part) => `${name} ${what}`.includes(part))) return null;
  if (parts.length === 0) return 0;
  if (name === typed || what === typed) return 0;
  if (name.startsWith(typed)) return 1;
  const begins = name.split(/[^\p{L}\p{N}]+/u);
  if (parts.every((part) => begins.some((begin) => begin.startsWith(part)))) return 2;
  return parts.every((part) => name.includes(part)) ? 3 : 4;
};

/** Those with all the words that were typed, at most so many: first what is named exactly so, or has exactly that key, then names and their words that begin so, then names with them within, at last those of which they are only said; each in its order. */
export const fitting = <Named extends Pick<Destination, 'words' | 'says'>>(
  all: readonly Named[],
  typed: string,
  most: number,
): readonly Named[] => {
  const wanted = folded(typed.trim());
  return all
    .map((each) => ({ each, rank: rankOf(each, wanted) }))
    .filter((found): found is { each: Named; rank: number } => found.rank !== null)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, most)
    .map(({ each }) => each);
};

/** The option before or after the one chosen, round at both ends. */
export const beside = (at: number, step: 1 | -1, count: number): number => (count === 0 ? 0 : (at + step + count) % count);
