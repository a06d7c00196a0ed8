import type { Outbound } from './custody-log.ts';

export type SendResult =
  | { readonly kind: 'sent'; readonly detail?: string }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }
  /** The receiver may or may not have it. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** A way out for answers: the terminal, a webhook, another session. */
export interface Outlet {
  readonly channel: string;
  /** True if the receiver recognises a repeated `Outbound.id`: a send with an unknown outcome may then be repeated. */
  readonly idempotent: boolean;
  /** Attempts before a send is given up. Default `limits.deliveryAttempts`. */
  readonly attempts?: number;
  send(outbound: Outbound, signal: AbortSignal): Promise<SendResult>;
}
