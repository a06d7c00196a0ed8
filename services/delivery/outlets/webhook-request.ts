import { createHmac } from 'node:crypto';
import type { Clock } from '../../../shared/kit/clock.ts';
import { traceparentNow } from '../../../shared/kit/trace.ts';
import { traceHeader } from '../../../shared/wire/cloudevents.ts';

/** Requests to a webhook's receiver, signed as `docs/integrate/webhooks.md` promises. */

export interface SignedOptions {
  readonly url: string;
  readonly secret: string;
  readonly timeoutMs: number;
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

/** Sends one request. The response body is never read and redirects are not followed. */
export const fetchSigned = async (
  { url, secret, timeoutMs, clock }: SignedOptions,
  { method, id, body }: { readonly method: 'GET' | 'POST'; readonly id: string; readonly body: string },
  signal: AbortSignal,
): Promise<Response> => {
  const timestamp = String(Math.floor(clock.now() / 1_000));
  const headers = {
    'user-agent': 'natter',
    'natter-delivery-id': id,
    'natter-timestamp': timestamp,
    'natter-signature': signatureOf(secret, timestamp, id, body),
    ...standardHeaders(secret, timestamp, id, body),
    ...traceHeader({ traceparent: traceparentNow() }),
    ...(method === 'POST' && { 'content-type': 'application/json', 'idempotency-key': id }),
  };
  const within = limited(signal, timeoutMs);
  try {
    const response = await fetch(url, {
      ...{ method, headers, redirect: 'manual', signal: within.signal },
      ...(method === 'POST' && { body }),
    });
    await response.body?.cancel();
    return response;
  } finally {
    within.clear();
  }
};

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

/** A receiver may say what the message is called where it came to. */
export const messageIdIn = (headers: Headers): { messageId?: string } => {
  const messageId = headers.get('natter-message-id');
  return messageId ? { messageId } : {};
};
