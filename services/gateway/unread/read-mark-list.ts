import type { ReadMarksView } from '../../../shared/ports/access/read-marks.ts';
import type { Ports } from '../../../shared/ports/index.ts';

/** This gateway's copy of the read marks, opened on first use. */
export class ReadMarkList {
  readonly #ports: Pick<Ports, 'readMarks'>;
  #view: Promise<ReadMarksView> | null = null;

  constructor(ports: Pick<Ports, 'readMarks'>) {
    this.#ports = ports;
  }

  /** Rejects with `NatterError('unavailable')` while it cannot be loaded. */
  view(): Promise<ReadMarksView> {
    this.#view ??= this.#ports.readMarks.watch().catch((error: unknown) => {
      this.#view = null;
      throw error;
    });
    return this.#view;
  }

  async close(): Promise<void> {
    await (await this.#view?.catch(() => null))?.close();
  }
}
