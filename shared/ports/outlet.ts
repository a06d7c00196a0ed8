import type { Outbound } from './custody-log.ts';

/**
 * Why a message was refused. `transient`: it may go through later. `rate_limit`: too many at once. `auth`, `permission`: nothing goes
 * through for this account until a person acts. `not_found`, `gone`: there is no such receiver (any more). `invalid`: not in this form.
 */
export type FailureClass = 'transient' | 'rate_limit' | 'auth' | 'permission' | 'not_found' | 'gone' | 'invalid';

export type SendResult =
  /** `messageId`: what the platform calls the message. */
  | { readonly kind: 'sent'; readonly messageId?: string; readonly detail?: string }
  /** The receiver has not got it, for certain. `afterMs`: the wait it asks for, with `transient` and `rate_limit`. */
  | { readonly kind: 'refused'; readonly failure: FailureClass; readonly afterMs?: number; readonly detail: string }
  /** The receiver may or may not have it. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** What a platform says about a message whose outcome is unknown. */
export type FindResult =
  | { readonly kind: 'sent'; readonly messageId?: string }
  | { readonly kind: 'not_sent' }
  /** It cannot say yet. */
  | { readonly kind: 'unresolved'; readonly detail: string };

/** One message for a platform: an outbound, or a part of one. A part's `id` is `<outbound>.p<index>`. */
export interface OutboundPart extends Outbound {
  /** Which part of how many, from 1; absent for an outbound in one piece. */
  readonly part?: { readonly index: number; readonly count: number };
  /** The text is plain text: the platform has refused it as Markdown. */
  readonly plain?: true;
}

/** What can be done about a send whose outcome is unknown (D12). */
export type UnknownSend =
  /** The receiver recognises a repeated id, `forMs` long if that is limited (leave a margin): it is sent again. */
  | { readonly by: 'key'; readonly forMs?: number }
  /**
   * The platform is asked for a message that was sent at about `around` (ms since 1970). Until `settlesMs` after the send it proves nothing
   * that it has none.
   */
  | {
      readonly by: 'ask';
      readonly settlesMs: number;
      find(part: OutboundPart, around: number, signal: AbortSignal): Promise<FindResult>;
    }
  /** Nothing: it stays unknown. */
  | { readonly by: 'neither' };

/** What a platform takes in one message. */
export interface PartLimit {
  readonly maximumLength?: number;
  /** What `maximumLength` counts: UTF-16 code units, bytes of UTF-8, or characters (Unicode code points). */
  readonly unit?: 'utf16' | 'bytes' | 'characters';
  readonly maximumLines?: number;
  /** The text as the platform counts it, if that is not the Markdown itself. Pure. */
  rendered?(markdown: string): string;
}

/** A way out for answers: the terminal, a webhook, another session. */
export interface Outlet {
  readonly channel: string;
  readonly unknownSend: UnknownSend;
  /** Attempts before a send is given up. Default 8. */
  readonly attempts?: number;
  /** Longer texts are sent in parts (D12). Default: no limit. */
  readonly limit?: PartLimit;
  send(part: OutboundPart, signal: AbortSignal): Promise<SendResult>;
}
