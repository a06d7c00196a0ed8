import { z } from 'zod';

/** Inputs that are too long somewhere: each text, list and set of pairs in a value, as long as wanted. */

/** A part of a value, and the value with that part of another size. */
export interface Part {
  readonly path: readonly string[];
  readonly kind: 'text' | 'count' | 'number';
  grown(size: number): unknown;
}

/** Objects whose fields have no names of their own. */
const pairs: ReadonlySet<string> = new Set(['metadata', 'logit_bias', 'ids']);
/** What tells two entries of one list apart. */
const names: ReadonlySet<string> = new Set(['id', 'name', 'call_id', 'tool_call_id', 'toolCallId', 'data']);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Another entry like this one. */
const another = (value: unknown, index: number): unknown => {
  if (typeof value === 'string') return `${value}${index}`;
  if (Array.isArray(value)) return value.map((each) => (isObject(each) ? another(each, index) : each));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      if (name === 'data') return [name, Buffer.from(`file ${index}`).toString('base64')];
      return [name, isObject(part) || (names.has(name) && typeof part === 'string') ? another(part, index) : part];
    }),
  );
};

/** All parts of a value; `whole` puts a part back into it. */
export const partsOf = (
  value: unknown,
  path: readonly string[] = [],
  whole: (part: unknown) => unknown = (part) => part,
): Part[] => {
  if (typeof value === 'string') return [{ path, kind: 'text', grown: (size) => whole(value.padEnd(size, 'x').slice(0, size)) }];
  if (typeof value === 'number') return [{ path, kind: 'number', grown: (size) => whole(size) }];
  if (Array.isArray(value)) {
    const [first] = value;
    const list = (size: number) => [
      ...Array.from({ length: size - value.length }, (_, index) => another(first, index)),
      ...value,
    ];
    const put = (index: number) => (part: unknown) => whole(value.with(index, part));
    return [
      { path, kind: 'count', grown: (size) => whole(list(size)) },
      ...value.flatMap((each, index) => partsOf(each, [...path, String(index)], put(index))),
    ];
  }
  if (!isObject(value)) return [];
  const inside = Object.entries(value).flatMap(([name, each]) =>
    partsOf(each, [...path, name], (part) => whole({ ...value, [name]: part })),
  );
  if (!pairs.has(path.at(-1) ?? '')) return inside;
  const [[first = '', held] = []] = Object.entries(value);
  const many = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`${first}${index}`, held]));
  return [
    ...inside,
    { path, kind: 'count', grown: (size) => whole(many(size)) },
    { path, kind: 'text', grown: (size) => whole({ [first.padEnd(size, first)]: held }) },
  ];
};

type Json = Record<string, any>;
const jsonOf = (schema: z.ZodType): Json => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

/** The bounds that a schema sets anywhere. */
export const boundsIn = (schema: z.ZodType): number[] => {
  const text = JSON.stringify(jsonOf(schema));
  return [...text.matchAll(/"max(?:Length|Items)":(\d+)/g)].map(([, bound]) => Number(bound));
};

/** The fields that a schema names, with their paths; entries of lists are `*`. */
export const fieldsIn = (schema: z.ZodType): string[] => {
  const root = jsonOf(schema);
  const walk = (at: Json | undefined, path: string): string[] => {
    if (at === undefined) return [];
    if (at.$ref !== undefined) return walk(root.$defs?.[at.$ref.split('/').at(-1)], path);
    const own = Object.entries<Json>(at.properties ?? {}).flatMap(([name, each]) => [
      path + name,
      ...walk(each, `${path}${name}.`),
    ]);
    const ways = [...(at.anyOf ?? []), ...(at.oneOf ?? []), ...(at.allOf ?? [])];
    return [...own, ...ways.flatMap((way) => walk(way, path)), ...walk(at.items, `${path}*.`)];
  };
  return [...new Set(walk(root, ''))];
};

/** The same of a value. */
export const fieldsOf = (value: unknown, path = ''): string[] => {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(each, `${path}*.`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => [path + name, ...fieldsOf(each, `${path}${name}.`)]);
};
