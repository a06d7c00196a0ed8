import type { LogWitness } from '../domain/session/log-witness.ts';

/** What the readers of the log have processed, by reader name: `delivery`, …; a record is where to go on, and a witness (I13). */
export interface Cursors {
  /** A reader without a cursor has seen nothing. */
  get(name: string): Promise<LogWitness>;
  put(name: string, seen: LogWitness): Promise<void>;
  /** All of them, by name. May lag. */
  all(): Promise<ReadonlyMap<string, LogWitness>>;
}
