/**
 * Bounds label values that come from outside, such as names of models and tools: the first `most` values are kept apart, all
 * later ones become `other`, so that a page of metrics stays bounded (I11).
 */
export const boundedLabel = (most: number): ((value: string) => string) => {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return 'other';
    known.add(value);
    return value;
  };
};
