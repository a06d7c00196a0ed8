import type { SessionKey } from '../domain/keys/session-key.ts';
import type { DeliveryReport } from '../domain/values/delivery.ts';
import type { Outbound } from './custody-log.ts';

/**
 * What is kept of an outgoing message that did not reach its receiver for certain (D12), until a person has it sent again or leaves
 * it. `text` is what was not sent, which may be the rest of its parts.
 */
export interface Undelivered extends Omit<Outbound, 'suppressedReason'>, Pick<DeliveryReport, 'outcome'> {
  readonly parts?: DeliveryReport['parts'];
}

/** The service whose letters hold messages that may not have arrived. */
export const deliveryService = 'delivery';

/** A message that nobody could process. `subject`: where it was stored; `at`: when it was given up, ms. */
export interface DeadLetter {
  readonly id: string;
  readonly service: string;
  readonly reason: string;
  readonly subject: string;
  readonly at: number;
  readonly bytes: Uint8Array;
}
/** A letter as it is kept. Later ones have a greater `seq`, by which it is found. */
export interface StoredDeadLetter extends DeadLetter {
  readonly seq: number;
}
/** A letter in a list: the `size` of its message in bytes, not the message, and the session that the message names. */
export interface ListedDeadLetter extends Omit<StoredDeadLetter, 'bytes'> {
  readonly sessionKey?: SessionKey;
  readonly size: number;
}

/**
 * What nobody could process, kept until a person decides. Bounded in age, in bytes and in letters of one source (`deadBounds` in
 * `topology.ts`): beyond that the oldest are dropped, of a source that floods its own (I11).
 */
export interface DeadLetters {
  /** Durable once it resolves. The same id of the same service within two minutes is stored once. */
  put(letter: DeadLetter): Promise<void>;
  /** The newest first, at most `limit`; only those before the sequence `before`, if it is given. */
  list(limit: number, before?: number): Promise<ListedDeadLetter[]>;
  /** `null` if there is none. */
  get(seq: number): Promise<StoredDeadLetter | null>;
  /** True if this call has removed it, for one of several callers. The message is then overwritten on the disk, too. */
  remove(seq: number): Promise<boolean>;
  /** Of all services, or of one. */
  count(service?: string): Promise<number>;
}
