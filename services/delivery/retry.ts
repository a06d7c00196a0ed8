import { backoffMs, jittered } from '../../shared/kit/backoff.ts';
import { limits } from '../../shared/kit/limits.ts';

const retries = { firstMs: 500, mostMs: limits.deliveryBackoffMs };

/**
 * Milliseconds to wait before attempt `attempt + 1`: doubling and capped, the upper half of it by chance (`random` in 0..1), so that many
 * who failed together do not come back together. Never earlier than the other side asked for, as far as we are willing to wait.
 */
export const retryMs = (attempt: number, random: number, askedMs = 0): number =>
  Math.max(jittered(backoffMs(retries, attempt), random), Math.min(askedMs, limits.deliveryRetryAfterMs));
