import type { SessionKey } from '../domain/keys/session-key.ts';
import type { DeliveryTarget } from '../domain/values/types.ts';

/**
 * One outgoing message. `id` is `<stream seq>.<index>` of the event, with a third number if one event has several messages. It is
 * the idempotency key of the send (I9).
 */
export interface Outbound {
  readonly id: string;
  readonly seq: number;
  readonly key: SessionKey;
  readonly target: DeliveryTarget;
  /** `stop`, on channel `session` only: the run there is to end. */
  readonly kind: 'assistant_message' | 'notice' | 'stop';
  readonly text: string;
  readonly turnId: string;
  /** The trace of its commit. */
  readonly traceparent?: string;
  /** Why it is not sent: there is nothing to say (A6/78), or a rule denies it (A9/98). Recorded as `suppressed`. */
  readonly suppressedReason?: string;
}
export type CustodyState = 'prepared' | 'sending' | 'delivered' | 'unknown' | 'suppressed' | 'failed';

export interface CustodyRecord {
  readonly v: 1;
  readonly outboundId: string;
  readonly outboundSeq: number;
  readonly key: SessionKey;
  readonly target: DeliveryTarget;
  readonly state: CustodyState;
  readonly attempt: number;
  readonly at: number;
  /** The member that wrote it, so that two members at work do not mistake each other's records for their own. */
  readonly by?: string;
  readonly detail?: string;
}

/** The delivery log: the state of each outbound. One writer per conversation, fenced by the conversation's last sequence (I9). */
export interface CustodyLog {
  last(target: DeliveryTarget): Promise<{ record: CustodyRecord; seq: number } | null>;
  /** Resolves with the new sequence, or `null` if another writer was first. */
  append(record: CustodyRecord, expectedSeq: number): Promise<number | null>;
}
