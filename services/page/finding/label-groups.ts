import type { SessionRow } from '../../../shared/client/main.ts';

/** Stands above the sessions of one label, or of none. */
interface GroupHeading {
  /** `null`: those without a label. */
  readonly heading: string | null;
  readonly count: number;
}
type Labelled = Pick<SessionRow, 'settings'>;

export const isHeading = (item: Labelled | GroupHeading): item is GroupHeading => 'heading' in item;

/** What stands in the list from top to bottom: rows, and the headings above them. An array is one too. */
interface ListItems<Row> {
  readonly length: number;
  at(index: number): Row | GroupHeading | undefined;
  findIndex(wanted: (item: Row | GroupHeading) => boolean): number;
}
export interface ShownList<Row> {
  /** Each row once. */
  readonly list: readonly Row[];
  /** The heading above an item, which tells a row from the same one in another group; `null`: none, or that of the rows without a label. */
  headingAt(index: number): string | null;
  readonly items: ListItems<Row>;
}

const unlabelled = [null];
/** Each once, as the log may have one twice. */
const labelsOf = ({ settings: { labels } }: Labelled): Iterable<string | null> => (labels ? new Set(labels) : unlabelled);

const byName = (one: string | null, other: string | null): number => {
  if (one === null || other === null) return one === null ? 1 : -1;
  return one.localeCompare(other);
};

/**
 * Rows under each of their labels, which are in the order of the alphabet, those without one last. In each group they keep their order. There
 * may be a hundred thousand rows, grouped again with each page of them: they are numbered, and no list is made before it is asked for.
 */
export const groupedByLabel = <Row extends Labelled>(rows: readonly Row[]): ShownList<Row> => {
  const counts = new Map<string | null, number>();
  for (const row of rows) for (const label of labelsOf(row)) counts.set(label, (counts.get(label) ?? 0) + 1);
  let rowsBefore = 0;
  const groups = [...counts.keys()].sort(byName).map((heading, before) => {
    const count = counts.get(heading) ?? 0;
    const from = rowsBefore + before;
    counts.set(heading, rowsBefore);
    rowsBefore += count;
    return { heading: { heading, count }, from };
  });
  /** The numbers of the rows, in the order of the groups. From here on `counts` has the next place of each label. */
  const order = new Uint32Array(rowsBefore);
  for (const [number, row] of rows.entries())
    for (const label of labelsOf(row)) {
      const place = counts.get(label) ?? 0;
      order[place] = number;
      counts.set(label, place + 1);
    }
  const groupAt = (index: number): number => groups.findLastIndex(({ from }) => from <= index);
  const at = (index: number): Row | GroupHeading | undefined => {
    const above = groupAt(index);
    const group = groups[above];
    return group?.from === index ? group.heading : rows[order[index - above - 1] ?? rows.length];
  };
  const length = order.length + groups.length;
  return {
    get list() {
      return Array.from(new Set(order), (number) => rows[number]).filter((row) => row !== undefined);
    },
    headingAt: (index) => groups[groupAt(index)]?.heading.heading ?? null,
    items: {
      ...{ length, at },
      findIndex: (wanted) => {
        for (let index = 0; index < length; index++) {
          const item = at(index);
          if (item !== undefined && wanted(item)) return index;
        }
        return -1;
      },
    },
  };
};
