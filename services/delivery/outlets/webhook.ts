import { errorMessage } from '../../../shared/kit/errors.ts';
import type { FailureClass, OutboundPart, Outlet, PartLimit, SendResult, UnknownSend } from '../../../shared/ports/outlet.ts';
import { fetchSigned, messageIdIn, type SignedOptions } from './webhook-request.ts';
import { findByStatus } from './webhook-status.ts';

export interface WebhookOptions extends SignedOptions {
  readonly channel: string;
  readonly attempts: number;
  readonly idempotent: boolean;
  /** Where the receiver says which messages it has. */
  readonly statusUrl?: string | undefined;
  /** The longest text of one post, in `unit`; longer ones are sent in parts. */
  readonly maxCharacters?: number | undefined;
  readonly unit?: PartLimit['unit'];
}

/** Posts each outbound as JSON to one URL. The response body is never read and redirects are not followed. */
export const webhookOutlet = (options: WebhookOptions): Outlet => {
  const { channel, attempts, maxCharacters, unit = 'utf16', clock } = options;
  return {
    channel,
    unknownSend: unknownSendOf(options),
    attempts,
    ...(maxCharacters !== undefined && { limit: { maximumLength: maxCharacters, unit } }),
    async send(outbound, signal) {
      const post = { method: 'POST', id: outbound.id, body: bodyOf(outbound) } as const;
      try {
        return resultOf(await fetchSigned(options, post, signal), clock.now());
      } catch (error) {
        return resultOfError(error);
      }
    },
  };
};

/** A receiver that can be asked is asked; that costs no second copy of the text. */
const unknownSendOf = (options: WebhookOptions): UnknownSend => {
  const { statusUrl, timeoutMs, idempotent } = options;
  if (statusUrl === undefined) return { by: idempotent ? 'key' : 'neither' };
  const asked = { ...options, url: statusUrl };
  // A request that was given up may still be on its way, and in the hands of a slow receiver.
  return { by: 'ask', settlesMs: settlesFactor * timeoutMs, find: (part, _, signal) => findByStatus(asked, part.id, signal) };
};
const settlesFactor = 3;

const bodyOf = ({ id, key, turnId, kind, text, target, part, plain }: OutboundPart): string =>
  JSON.stringify({ id, sessionKey: key, turnId, kind, text, to: target, ...(part && { part }), ...(plain && { plain }) });

/** Statuses that say for certain that the message was not taken, and why. Any other 4xx, and a redirect, means that nothing there takes it. */
const refusals: Record<number, FailureClass> = {
  400: 'invalid',
  401: 'auth',
  403: 'permission',
  410: 'gone',
  413: 'invalid',
  422: 'invalid',
  429: 'rate_limit',
};

const resultOf = ({ status, headers }: Response, now: number): SendResult => {
  const detail = `HTTP ${status}`;
  const retryAfter = headers.get('retry-after');
  if (status >= 200 && status < 300) return { kind: 'sent', detail, ...messageIdIn(headers) };
  const failure = refusals[status] ?? (status === 503 && retryAfter !== null ? 'transient' : null);
  if (failure !== null) return { kind: 'refused', failure, afterMs: retryAfterMs(retryAfter, now), detail };
  return status >= 500 || status === 408 ? { kind: 'unknown', detail } : { kind: 'refused', failure: 'not_found', detail };
};

/** `Retry-After` is seconds or a date; 0 when it is neither. */
const retryAfterMs = (value: string | null, now: number): number => {
  const seconds = Number(value ?? 0);
  const ms = Number.isNaN(seconds) ? Date.parse(value ?? '') - now : seconds * 1_000;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
};

/** Errors that mean the other side has not seen the request. */
const neverArrived = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'ENETUNREACH', 'EHOSTUNREACH'],
]);

const resultOfError = (error: unknown): SendResult => {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const detail = code === '' ? errorMessage(error) : `${errorMessage(error)} (${code})`;
  return neverArrived.has(code) ? { kind: 'refused', failure: 'transient', detail } : { kind: 'unknown', detail };
};
