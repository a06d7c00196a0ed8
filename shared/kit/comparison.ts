/** JSON with sorted object keys, so that equal data gives equal text. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The differences between two plain values, with dotted paths, depth first. */
export const differences = (before: unknown, after: unknown, path = ''): Difference[] => {
  if (isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after)) {
    const [one, other] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    const names = new Set([...one.keys(), ...other.keys()]);
    return [...names].flatMap((name) => differences(one.get(name), other.get(name), path === '' ? name : `${path}.${name}`));
  }
  return canonical(before) === canonical(after) ? [] : [{ path, before, after }];
};
