import type { SessionKey } from '../domain/keys/session-key.ts';
import type { DeliveryTarget } from '../domain/values/types.ts';
import type { FailureClass } from './outlet.ts';

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
/** `partial`: some parts were sent, and for certain not all (D12). */
export type CustodyState = 'prepared' | 'sending' | 'delivered' | 'partial' | 'unknown' | 'suppressed' | 'failed';

/** A place where a text is cut: its part ends at `end`, the next one begins at `next`; only white space is between them. */
export interface Cut {
  readonly end: number;
  readonly next: number;
  /** The opening line of the code fence that is cut here: it is closed before the cut and opened again behind it. */
  readonly fence?: string;
}

/** Custody of a message that goes out in several parts (D12). There is one part more than cuts; the part in hand is number `done.length`. */
export interface CustodyParts {
  /** Where this delivery has cut the text. Whoever continues it cuts there, whatever its configuration says. */
  readonly cuts: readonly Cut[];
  /** SHA-256 of the parts, in hexadecimal: the parts of another text must not follow the first ones of this. */
  readonly digest: string;
  /** One for each part that is done: the platform's id of its message, or `null` where it has told none. */
  readonly done: readonly (string | null)[];
  /** Those of them, counted from 0, that were refused; a mark was sent in the place of each. */
  readonly refused?: readonly number[];
}

/** How the part in hand is sent after a refusal as it was written: as plain text, then as a mark that it is missing. */
export type PartForm = 'plain' | 'mark';

export interface CustodyRecord {
  /** 2: with `parts`, or in the state `partial`. A version that knows only 1 refuses these, and so repeats no part. */
  readonly v: 1 | 2;
  readonly outboundId: string;
  readonly outboundSeq: number;
  readonly key: SessionKey;
  readonly target: DeliveryTarget;
  readonly state: CustodyState;
  /** How often the message, or its part in hand, is sent. */
  readonly attempt: number;
  readonly at: number;
  /** The member that wrote it, so that two members at work do not mistake each other's records for their own. */
  readonly by?: string;
  readonly detail?: string;
  /** Absent for a message in one piece. */
  readonly parts?: CustodyParts;
  readonly form?: PartForm;
  /** The platform's id of a message in one piece, once it is delivered. */
  readonly messageId?: string;
  /** Why the last attempt failed, or why none follows. */
  readonly failure?: FailureClass;
  /** Attempts that do not count: the platform asked to wait, the account was parked, or the form was refused. */
  readonly uncounted?: number;
  /** With `prepared`: not to be sent before, in ms since 1970. */
  readonly notBefore?: number;
  /** Since when (ms since 1970) the part in hand may have arrived without anybody knowing it. */
  readonly uncertainSince?: number;
}

export interface StoredCustody extends CustodyRecord {
  readonly seq: number;
}
export interface CustodyPage {
  readonly records: readonly StoredCustody[];
  /** The `before` of the next page; `null`: there is none. */
  readonly next: number | null;
}

/** The delivery log: the state of each outbound. One writer per conversation, fenced by the conversation's last sequence (I9). */
export interface CustodyLog {
  /** The conversation's last record; `null` in its place: what is stored was written by nobody. Throws `invalid` when it is no record. */
  last(target: DeliveryTarget): Promise<{ record: CustodyRecord | null; seq: number } | null>;
  /** The conversation's records that were stored after a time (by the broker's clock, ms), oldest first. May lag behind the last. */
  read(target: DeliveryTarget, after: number): AsyncIterable<CustodyRecord>;
  /**
   * The records of a state in all conversations, newest first, only those before the sequence `before`, if it is given. Looks through a
   * bounded part of the log: a page may have fewer than `limit`, or none, and still a `next`. May lag behind the last.
   */
  newest(state: CustodyState, range: { readonly before?: number | undefined; readonly limit: number }): Promise<CustodyPage>;
  /** Resolves with the new sequence, or `null` if another writer was first. */
  append(record: CustodyRecord, expectedSeq: number): Promise<number | null>;
}
