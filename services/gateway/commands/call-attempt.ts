import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { CallAttempt } from '../../../shared/domain/session/repeats/asked-calls.ts';

/**
 * Which attempt at a call this is, for clients that count them in `X-Stainless-Retry-Count`: those that Stainless generates, OpenAI's among
 * them. They send no idempotency key, and the same body each time. `undefined` for any other client.
 */
export const callAttemptOf = ({ headers, actor, url, body }: FastifyRequest): CallAttempt | undefined => {
  const count = headers['x-stainless-retry-count'];
  if (typeof count !== 'string' || !/^\d{1,3}$/.test(count)) return undefined;
  const digest = createHash('sha256')
    .update(JSON.stringify([actor, url, body]))
    .digest('base64url');
  return { fingerprint: digest.slice(0, 22), attempt: Number(count) };
};
