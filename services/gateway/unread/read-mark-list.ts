import type { ReadMarksView } from '../../../shared/ports/access/read-marks.ts';
import type { Ports } from '../../../shared/ports/index.ts';

/** After the marks could not be loaded, nobody waits for them for so long. */
const againMs = 10_000;

/** This gateway's copy of the read marks, opened on first use. */
export class ReadMarkList {
  readonly #ports: Pick<Ports, 'readMarks' | 'clock'>;
  #view: Promise<ReadMarksView> | null = null;
  /** When a copy that could not be loaded is opened anew, in monotonic ms. */
  #againAt = Number.POSITIVE_INFINITY;

  constructor(ports: Pick<Ports, 'readMarks' | 'clock'>) {
    this.#ports = ports;
  }

  /** Rejects with `NatterError('unavailable')` while it cannot be loaded. */
  view(): Promise<ReadMarksView> {
    const { readMarks, clock } = this.#ports;
    if (clock.monotonic() >= this.#againAt) this.#view = null;
    this.#view ??= this.#open(readMarks.watch(), clock);
    return this.#view;
  }

  async close(): Promise<void> {
    await (await this.#view?.catch(() => null))?.close();
  }

  #open(view: Promise<ReadMarksView>, clock: Ports['clock']): Promise<ReadMarksView> {
    this.#againAt = Number.POSITIVE_INFINITY;
    return view.catch((error: unknown) => {
      this.#againAt = clock.monotonic() + againMs;
      throw error;
    });
  }
}
