import type { MetricHistory as StoredHistory } from '../../../shared/client/main.ts';
import { metricSums } from '../../../shared/kit/text/metric-sums.ts';

/** What one line shows: the sum of a metric's series, or of those with a label; `rate`: its growth for each second. */
export interface Wanted {
  readonly title: string;
  readonly metric: string;
  readonly label?: string;
  readonly rate?: true;
}

/** A value at a time, ms. */
export interface Point {
  readonly at: number;
  readonly value: number;
}

interface Sample {
  readonly at: number;
  readonly sums: ReadonlyMap<string, number>;
}

/** The numbers of the last minutes: those that the gateway has kept, and then those of the Prometheus text of `/metrics`. */
export class MetricHistory {
  readonly #keptMs: number;
  #samples: readonly Sample[] = [];

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** Takes what the gateway has kept: it comes before all that is added here. */
  begin({ at, series }: StoredHistory): void {
    const first = this.#samples[0]?.at ?? Number.POSITIVE_INFINITY;
    const entries = Object.entries(series);
    const sumsAt = (index: number): Map<string, number> =>
      new Map(entries.flatMap(([name, values]) => (values[index] == null ? [] : [[name, values[index]]])));
    const kept = at.map((time, index) => ({ at: time, sums: sumsAt(index) }));
    this.#samples = [...kept.filter((sample) => sample.at < first), ...this.#samples];
  }

  add(at: number, text: string): void {
    this.#samples = [...this.#samples, { at, sums: metricSums(text) }].filter((sample) => sample.at > at - this.#keptMs);
  }

  /** Whether any of these lines has no value. */
  lacksAny(wanted: readonly Wanted[]): boolean {
    return wanted.some((each) => this.pointsOf(each).length === 0);
  }

  /** The points of a line, oldest first; empty if nothing exposes it. A counter that went back began anew with its process: no growth. */
  pointsOf({ metric, label, rate }: Wanted): readonly Point[] {
    const name = label === undefined ? metric : `${metric} ${label}`;
    const points = this.#samples.flatMap(({ at, sums }) => {
      const value = sums.get(name);
      return value === undefined ? [] : [{ at, value }];
    });
    if (!rate) return points;
    return points.slice(1).map(({ at, value }, index) => {
      const before = points[index];
      if (before === undefined || at <= before.at) return { at, value: 0 };
      return { at, value: Math.max(0, value - before.value) / ((at - before.at) / 1_000) };
    });
  }
}
