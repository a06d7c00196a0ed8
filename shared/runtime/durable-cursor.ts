import type { RecordedCommit } from '../domain/session/envelope.ts';
import type { Ports } from '../ports/index.ts';
import { intactLog } from './log-witness.ts';

/** A reader's position that survives the process, and the commit that it stands on. It is written only when it has changed. */
export class DurableCursor {
  readonly #ports: Pick<Ports, 'cursors' | 'events'>;
  readonly #name: string;
  #incarnation: number | null = null;
  #saved: number | null = null;
  #last: Pick<RecordedCommit, 'seq' | 'digest'> | null = null;

  constructor(ports: Pick<Ports, 'cursors' | 'events'>, name: string) {
    this.#ports = ports;
    this.#name = name;
  }

  /** The last saved position, or 0. Throws `log_regressed` if the log has lost it: reading on would skip or repeat events (I13). */
  readonly load = async (): Promise<number> => {
    const seen = await this.#ports.cursors.get(this.#name);
    this.#incarnation = (await intactLog(this.#ports.events, seen)).incarnation;
    this.#saved = seen.seq;
    return seen.seq;
  };

  /** This commit was read. */
  note({ seq, digest }: RecordedCommit): void {
    this.#last = { seq, digest };
  }

  /** Rejects when the outcome is unknown; the next call then writes again. */
  async save(position: number): Promise<void> {
    if (position === this.#saved) return;
    const digest = this.#last?.seq === position ? this.#last.digest : null;
    await this.#ports.cursors.put(this.#name, { incarnation: this.#incarnation, seq: position, digest });
    this.#saved = position;
  }
}
