import type { DeliveryReport, WaitingDelivery } from '../../domain/values/delivery.ts';
import type { DeliveryTarget } from '../../domain/values/types.ts';

/** What `client.get` returns of messages that are scheduled, did not arrive or could not be processed. Times are milliseconds since 1970. */

export type { WaitingDelivery };

/** An outgoing message that may not have arrived (D12). `seq` is its place, by which it is found. */
export interface Delivery extends Pick<DeliveryReport, 'kind' | 'parts'> {
  readonly seq: number;
  readonly state: DeliveryReport['outcome'];
  /** `<seq>.<index>` of the event that it came from. */
  readonly outboundId: string;
  readonly sessionKey: string;
  readonly target: DeliveryTarget;
  readonly detail: string;
  readonly at: number;
}
/** What became of an outgoing message. `attempt`: of its part in hand, 0: none was begun; `messageIds`: what the platform calls what arrived. */
export interface EventDelivery extends Pick<DeliveryReport, 'kind' | 'parts'> {
  readonly outboundId: string;
  readonly target: DeliveryTarget;
  readonly state: DeliveryReport['outcome'] | 'prepared' | 'sending' | 'delivered' | 'suppressed';
  readonly attempt: number;
  /** Since when it is in this state; absent: there is no record of it. */
  readonly at?: number;
  readonly notBefore?: number;
  readonly messageIds: readonly string[];
  /** Why the last attempt failed: a class, and to the owner the receiver's words. */
  readonly failure?: string;
  readonly detail?: string;
}
/** `GET /v1/sessions/{key}/deliveries?event=…`. */
export interface EventDeliveries {
  readonly deliveries: readonly EventDelivery[];
}
/** `GET /v1/deliveries`. */
export interface DeliveryPage {
  /** What will be sent by itself; on the first page only. */
  readonly waiting: readonly WaitingDelivery[];
  readonly deliveries: readonly Delivery[];
  /** The `before` of the next page; `null`: there is none. */
  readonly next: number | null;
}
/** An outgoing message that has arrived. `seq` is its place in the delivery log. */
export interface DeliveredMessage extends Omit<EventDelivery, 'kind' | 'state' | 'notBefore' | 'failure'> {
  readonly seq: number;
  readonly sessionKey: string;
  readonly at: number;
}
/** `GET /v1/deliveries/delivered`. A page may be short, or empty, and have a `next`. */
export interface DeliveredPage {
  readonly delivered: readonly DeliveredMessage[];
  /** The `before` of the next page; `null`: there is none. */
  readonly next: number | null;
}
/** `GET /v1/deliveries/{seq}`: with the text that was not sent. */
export interface DeliveryWithText extends Delivery {
  readonly text: string;
  readonly repeat: { readonly isPossible: boolean; readonly why: string };
}

/** A message that nobody could process. `seq` is its place, by which it is found; `size` is in bytes. */
export interface DeadLetter {
  readonly seq: number;
  readonly id: string;
  readonly service: string;
  /** The session that its message names. */
  readonly sessionKey?: string;
  readonly reason: string;
  readonly subject: string;
  readonly at: number;
  readonly size: number;
}
/** `GET /v1/dead-letters`. */
export interface DeadLetterPage {
  readonly deadLetters: readonly DeadLetter[];
  readonly next: number | null;
}
/** `GET /v1/dead-letters/{seq}`: with its message as JSON (`null`: it cannot be read) and in base64, and what a resend would do. */
export interface DeadLetterWithMessage extends DeadLetter {
  readonly message: unknown;
  readonly bytes: string;
  readonly resend: {
    readonly isPossible: boolean;
    /** Whether the session remembers it already, so that nothing would change; `null`: that cannot be known. */
    readonly wouldRepeat: boolean | null;
    readonly why: string;
  };
}

/** A scheduled message (`sendAt`). */
export interface ScheduledMessage {
  readonly runId: string;
  readonly sessionKey: string;
  readonly sendAt: number;
  /** Whose token scheduled it. */
  readonly actor: string;
  /** What becomes of it: `post_message`, or what a chat command does. */
  readonly command: string;
  /** `null`: it is a chat command. */
  readonly text: string | null;
}
/** `GET /v1/scheduled-messages`. `complete: false`: there are more, or too many timers to look at all of them. */
export interface ScheduledMessages {
  readonly messages: readonly ScheduledMessage[];
  readonly complete: boolean;
}
