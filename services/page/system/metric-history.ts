/** A short history of numbers, read from the Prometheus text of `/metrics`. Kept in the page, as long as the view is open. */

/** What one line shows: the sum of a metric's series, or of those with a label; `rate`: its growth for each second. */
export interface Wanted {
  readonly title: string;
  readonly metric: string;
  readonly label?: string;
  readonly rate?: true;
}

/** The sum of each metric's series. A name with a label (`natter_queue_messages queue="commands"`) is summed apart. */
export const sumsOf = (text: string): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  const add = (name: string, value: number): void => {
    sums.set(name, (sums.get(name) ?? 0) + value);
  };
  for (const line of text.split('\n')) {
    const [, name, labels = '', number] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    const value = Number(number);
    if (name === undefined || !Number.isFinite(value)) continue;
    add(name, value);
    for (const [label] of labels.matchAll(/[a-z_]+="(?:[^"\\]|\\.)*"/gi)) add(`${name} ${label}`, value);
  }
  return sums;
};

interface Sample {
  readonly at: number;
  readonly sums: ReadonlyMap<string, number>;
}

/** The newest samples, at most so many. */
export class MetricHistory {
  readonly #most: number;
  #samples: readonly Sample[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(at: number, text: string): void {
    this.#samples = [...this.#samples, { at, sums: sumsOf(text) }].slice(-this.#most);
  }

  /** Whether any of these lines has no value. */
  lacksAny(wanted: readonly Wanted[]): boolean {
    return wanted.some((each) => this.valuesOf(each).length === 0);
  }

  /** The values of a line, oldest first; empty if nothing exposes it. A counter that went back began anew with its process: no growth. */
  valuesOf({ metric, label, rate }: Wanted): readonly number[] {
    const name = label === undefined ? metric : `${metric} ${label}`;
    const points = this.#samples.flatMap(({ at, sums }) => {
      const value = sums.get(name);
      return value === undefined ? [] : [{ at, value }];
    });
    if (!rate) return points.map(({ value }) => value);
    return points.slice(1).map(({ at, value }, index) => {
      const before = points[index];
      if (before === undefined || at <= before.at) return 0;
      return Math.max(0, value - before.value) / ((at - before.at) / 1_000);
    });
  }
}
