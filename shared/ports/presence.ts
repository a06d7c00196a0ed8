import type { WaitingDelivery } from '../domain/values/delivery.ts';

/** Partitions of the commands that a process has held since the same time, ms since 1970. */
export interface HeldPartitions {
  readonly since: number;
  readonly partitions: readonly number[];
}

/** The health of one process: its services, their problems and their metrics. */
export interface HealthReport {
  readonly v: 1;
  /** Its unique name. */
  readonly process: string;
  readonly version: string;
  readonly startedAt: number;
  readonly at: number;
  readonly services: readonly {
    readonly name: string;
    /** Its name in commits and in the lines of the log: one process may have several services, each with its own. */
    readonly member?: string;
    readonly problems: readonly string[];
    readonly warnings: readonly string[];
    readonly metrics: Readonly<Record<string, number>>;
    /** Of the delivery service: at most `reportedWaitingPlaces` of them. */
    readonly waiting?: readonly WaitingDelivery[];
    /** Of a session host. */
    readonly held?: readonly HeldPartitions[];
  }[];
  /** A digest of each section of its configuration, without secrets. */
  readonly config?: Readonly<Record<string, string>>;
}

/** The processes that are alive. A report that is not renewed expires within seconds. */
export interface Presence {
  tell(report: HealthReport): Promise<void>;
  leave(process: string): Promise<void>;
  /** May be slightly stale. */
  list(): Promise<HealthReport[]>;
}
