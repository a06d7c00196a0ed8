import { type Clock, untilBeat } from '../../kit/clock.ts';
import { metricSums } from '../../kit/text/metric-sums.ts';

const everyMs = 10_000;
/** Fifteen minutes. */
const keptSamples = 90;
/** Sums by label are kept of this one alone, and none of the buckets of histograms: both may be many. */
const isKept = (name: string): boolean =>
  name.includes(' ') ? name.startsWith('natter_queue_messages ') : !name.endsWith('_bucket');

interface Sample {
  readonly at: number;
  readonly sums: ReadonlyMap<string, number>;
}

interface KeptMetricsOptions {
  readonly clock: Clock;
  /** The metrics in the Prometheus text format. */
  text(): Promise<string>;
}

/** The metrics of this process in the last minutes, so that whoever begins to look sees how they came to be what they are. In memory alone. */
export class KeptMetrics {
  readonly #options: KeptMetricsOptions;
  #samples: readonly Sample[] = [];

  constructor(options: KeptMetricsOptions) {
    this.#options = options;
  }

  /** Takes a sample now and then until the signal ends. Never throws: a sample that cannot be taken is left out. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock, text } = this.#options;
    for (;;) {
      await clock.sleep(untilBeat(clock, everyMs), signal);
      if (signal.aborted) return;
      const sums = await text().then(metricSums, () => null);
      if (sums === null) continue;
      const sample = { at: clock.now(), sums: new Map([...sums].filter(([name]) => isKept(name))) };
      this.#samples = [...this.#samples, sample].slice(-keptSamples);
    }
  }

  /** The samples, oldest first. `series`: a value for each of them; `null`: there was none. */
  read(): { readonly at: number[]; readonly series: Record<string, (number | null)[]> } {
    const names = new Set(this.#samples.flatMap(({ sums }) => [...sums.keys()]));
    const values = (name: string) => this.#samples.map(({ sums }) => sums.get(name) ?? null);
    return {
      at: this.#samples.map(({ at }) => at),
      series: Object.fromEntries([...names].map((name) => [name, values(name)])),
    };
  }
}
