/** How one process of the system is: what it runs, what is wrong with it, and its numbers. */
export interface HealthReport {
  readonly v: 1;
  /** Its name, unique. */
  readonly process: string;
  readonly version: string;
  readonly startedAt: number;
  readonly at: number;
  readonly services: readonly {
    readonly name: string;
    readonly problems: readonly string[];
    readonly warnings: readonly string[];
    readonly metrics: Readonly<Record<string, number>>;
  }[];
}

/** Which processes are there. A report that is not told again is forgotten within seconds: silence means gone. */
export interface Presence {
  tell(report: HealthReport): Promise<void>;
  leave(process: string): Promise<void>;
  /** May lag by a moment. */
  list(): Promise<HealthReport[]>;
}
