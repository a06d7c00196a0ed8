import type { LogPage } from '../../../shared/client/main.ts';

export type Line = LogPage['lines'][number];

/** Lines that say the same one after the other. The first of them is the newest. */
export type LogGroup = readonly [Line, ...Line[]];

/** When a group stands in the log, and since when it goes on. */
export const timesOf = (group: LogGroup): { readonly last: number; readonly first: number } => ({
  last: group[0].at,
  first: (group.at(-1) ?? group[0]).at,
});

/** Never a difference in what is said. */
const unsaid: ReadonlySet<string> = new Set(['stack']);

/** What the fields of a line say in words: texts with a space, without their numbers. Ids, keys, times and counts are not among them. */
const saidIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return /\s/.test(value) ? [value.replace(/\d+/g, '0')] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => (unsaid.has(name) ? [] : saidIn(child)));
};

const saysTheSame = (one: Line, other: Line): boolean =>
  one.level === other.level &&
  one.message === other.message &&
  one.fields.service === other.fields.service &&
  String(saidIn(one.fields)) === String(saidIn(other.fields));

/** Groups of neighbours that differ in their time, ids and numbers alone; in the order of the lines. */
export const logGroups = (lines: readonly Line[]): readonly LogGroup[] => {
  const groups: [Line, ...Line[]][] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (last !== undefined && saysTheSame(last[0], line)) last.push(line);
    else groups.push([line]);
  }
  return groups;
};
