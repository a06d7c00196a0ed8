/** Where the palette leads, and which of these places fit what somebody types. */

export interface Destination {
  /** Unlike that of any other. */
  readonly id: string;
  readonly words: string;
  /** What else it is found by. */
  readonly says: string;
  go(): void;
}

/** Without case and accents: people leave both out. */
const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

const rankOf = ({ words, says }: Pick<Destination, 'words' | 'says'>, typed: string): number | null => {
  const [name, all] = [folded(words), folded(`${words} ${says}`)];
  const parts = typed.split(/\s+/).filter((part) => part !== '');
  if (!parts.every((part) => all.includes(part))) return null;
  if (name.startsWith(typed)) return 0;
  const begins = name.split(/[^\p{L}\p{N}]+/u);
  return parts.every((part) => begins.some((begin) => begin.startsWith(part))) ? 1 : 2;
};

/** Those with all the words that were typed, at most so many: first what is named so, then where words of the name begin so, each in its order. */
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
