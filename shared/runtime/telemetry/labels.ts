/**
 * Values of a label that come from outside, such as names of models and tools: so many different ones are told apart, and all that come
 * after them are `other`. A page of metrics has a bound whatever people call things (I11).
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
