import { createHmac } from 'node:crypto';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { traceparentNow } from '../../../shared/kit/trace.ts';
import type { FailureClass, OutboundPart, Outlet, PartLimit, SendResult } from '../../../shared/ports/outlet.ts';
import { traceHeader } from '../../../shared/wire/cloudevents.ts';

export interface WebhookOptions {
  readonly channel: string;
  readonly url: string;
  readonly secret: string;
  readonly timeoutMs: number;
  readonly attempts: number;
  readonly idempotent: boolean;
  /** The longest text of one post, in `unit`; longer ones are sent in parts. */
  readonly maxCharacters?: number | undefined;
  readonly unit?: PartLimit['unit'];
  readonly clock: Pick<Clock, 'now'>;
}

/** `v1=<hex>`: HMAC-SHA256 over `<timestamp>.<id>.<body>`, as `docs/integrate/webhooks.md` promises. */
export const signatureOf = (secret: string, timestamp: string, id: string, body: string): string =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${id}.${body}`).digest('hex')}`;

/**
 * The key of the Standard Webhooks signature: the bytes that a `whsec_` secret has in base64. Any other secret is the key itself, in UTF-8.
 */
const standardKeyOf = (secret: string): Buffer => {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  return base64 === undefined ? Buffer.from(secret) : Buffer.from(base64, 'base64');
};

/** The headers of Standard Webhooks: HMAC-SHA256 over `<id>.<timestamp>.<body>`. An id of ours is made of numbers, nobody can choose it. */
const standardHeaders = (secret: string, timestamp: string, id: string, body: string) => ({
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': `v1,${createHmac('sha256', standardKeyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
});

/** Posts each outbound as JSON to one URL. The response body is never read and redirects are not followed. */
export const webhookOutlet = (options: WebhookOptions): Outlet => {
  const { channel, url, secret, timeoutMs, attempts, idempotent, maxCharacters, unit = 'utf16', clock } = options;
  return {
    channel,
    unknownSend: idempotent ? { by: 'key' } : { by: 'neither' },
    attempts,
    ...(maxCharacters !== undefined && { limit: { maximumLength: maxCharacters, unit } }),
    async send(outbound, signal) {
      const body = bodyOf(outbound);
      const timestamp = String(Math.floor(clock.now() / 1_000));
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'natter',
        'idempotency-key': outbound.id,
        'natter-delivery-id': outbound.id,
        'natter-timestamp': timestamp,
        'natter-signature': signatureOf(secret, timestamp, outbound.id, body),
        ...standardHeaders(secret, timestamp, outbound.id, body),
        ...traceHeader({ traceparent: traceparentNow() }),
      };
      const within = limited(signal, timeoutMs);
      try {
        const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: within.signal });
        await response.body?.cancel();
        return resultOf(response, clock.now());
      } catch (error) {
        return resultOfError(error);
      } finally {
        within.clear();
      }
    },
  };
};

const bodyOf = ({ id, key, turnId, kind, text, target, part, plain }: OutboundPart): string =>
  JSON.stringify({ id, sessionKey: key, turnId, kind, text, to: target, ...(part && { part }), ...(plain && { plain }) });

/** A signal for one request, with a time limit; it leaves no listener on the long-lived one. */
const limited = (signal: AbortSignal, timeoutMs: number) => {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
};

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

/** A receiver may say what the message is called where it came to. */
const messageIdIn = (headers: Headers): { messageId?: string } => {
  const messageId = headers.get('natter-message-id');
  return messageId ? { messageId } : {};
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
