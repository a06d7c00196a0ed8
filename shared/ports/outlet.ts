import type { Outbound } from './custody-log.ts';

export type SendResult =
  | { readonly kind: 'sent'; readonly detail?: string }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }
  /** The other side may or may not have it. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** A way out: the terminal, a webhook, later each channel. */
export interface Outlet {
  readonly channel: string;
  /** True when the other side recognises `Outbound.id` again: an unknown send may then be repeated. */
  readonly idempotent: boolean;
  /** Times a send is tried before it is given up. Default `limits.deliveryAttempts`. */
  readonly attempts?: number;
  send(outbound: Outbound, signal: AbortSignal): Promise<SendResult>;
}
