import { HealthProblem } from '../../../shared/kit/health-problem.ts';

/** How long a line about a limit counts: while writes are refused, nats-server repeats it every ten seconds. */
const limitMs = 30_000;

/**
 * What the log of a nats-server says of its store (F26). After an error of the disk a stream answers no write any more, and nobody but
 * the log knows why; only a restart helps, once there is room. At its limit the broker refuses writes, and takes them again by
 * itself; but it knows of a larger disk only after a restart.
 */
export class UnstoredWrites {
  readonly #monotonic: () => number;
  #frozen: HealthProblem | null = null;
  #limitAt: number | null = null;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Reads one line of the log. */
  hear(line: string): void {
    if (/resource limits exceeded/i.test(line)) this.#limitAt = this.#monotonic();
    if (this.#frozen === null && /critical write error|failed to store a msg/i.test(line)) this.#frozen = problemIn(line);
  }

  /** The server was started anew. */
  forget(): void {
    this.#frozen = null;
    this.#limitAt = null;
  }

  /** Why it does not store; `null` if it does, or says so itself. */
  problem(): HealthProblem | null {
    return this.#frozen;
  }

  /** True while a restart would help, provided that there is room. */
  wantsRestart(): boolean {
    const isAtLimit = this.#limitAt !== null && this.#monotonic() - this.#limitAt < limitMs;
    return this.#frozen !== null || isAtLimit;
  }
}

const problemIn = (line: string): HealthProblem => {
  if (!/no space left|quota exceeded/i.test(line))
    return new HealthProblem('write_probe_failed', `the broker cannot write to its disk: ${line.slice(0, 300)}`);
  const fix = 'free space on the disk of the data folder; the broker is then restarted by itself';
  return new HealthProblem('storage_full', 'the disk of the broker is full', fix);
};
