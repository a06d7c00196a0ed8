import type { SessionKey } from '../domain/keys/session-key.ts';
import type { DeliveryTarget } from '../domain/values/types.ts';
import type { Outbound } from './custody-log.ts';

/** An outgoing message that is not sent yet and will be, without anybody's doing. */
export interface WaitingDelivery {
  readonly outboundId: string;
  readonly sessionKey: SessionKey;
  readonly target: DeliveryTarget;
  readonly kind: Outbound['kind'];
  /** `parked`: nothing goes through for the account until somebody acts. */
  readonly state: 'waiting' | 'parked';
  readonly detail: string;
  /** Not to be sent before, ms since 1970; absent if that is not known. */
  readonly notBefore?: number;
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
    /** Of the delivery service: at most `limits.reportedDeliveries` of them. */
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
