import type { DeliveryTarget } from '../domain/values/types.ts';

/** A conversation, or without `to` an account, whose outgoing messages wait and will be sent. */
export interface WaitingDelivery extends Omit<DeliveryTarget, 'to'> {
  readonly to?: string;
  /** `parked`: nothing goes through for the account until somebody mends it. */
  readonly state: 'waiting' | 'parked';
  readonly detail: string;
  /** When it is tried again, ms since 1970. */
  readonly until: number;
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
    readonly problems: readonly string[];
    readonly warnings: readonly string[];
    readonly metrics: Readonly<Record<string, number>>;
    /** Of the delivery service: at most `reportedWaitingPlaces` of them. */
    readonly waiting?: readonly WaitingDelivery[];
  }[];
}

/** The processes that are alive. A report that is not renewed expires within seconds. */
export interface Presence {
  tell(report: HealthReport): Promise<void>;
  leave(process: string): Promise<void>;
  /** May be slightly stale. */
  list(): Promise<HealthReport[]>;
}
