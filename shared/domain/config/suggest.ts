/** Edit distance: the inserts, deletes, replacements and swaps of neighbours that turn one text into the other. */
export const editDistance = (one: string, other: string): number => {
  let before: number[] = [];
  let row = [...Array(other.length + 1).keys()];
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced, swapped));
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
};

/**
 * The name in `known` that somebody who typed `wrong` most likely meant, or `null` if none is near: one edit in a short name, one for each three
 * characters of a longer one. Ignores case, `-` and `_`.
 */
export const suggest = (wrong: string, known: Iterable<string>): string | null => {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_]/g, '').slice(0, 64);
  let best: { name: string; edits: number } | null = null;
  for (const name of known) {
    const edits = editDistance(plain(wrong), plain(name));
    if (edits <= Math.max(1, Math.floor(name.length / 3)) && (best === null || edits < best.edits)) best = { name, edits };
  }
  return best?.name ?? null;
};
