import { limits } from '../../shared/kit/limits.ts';

const firstMs = 500;

/**
 * Milliseconds to wait before attempt `attempt + 1`: doubling and capped, the upper half of it by chance (`random` in 0..1), so that many
 * who failed together do not come back together. Never earlier than the other side asked for, as far as we are willing to wait.
 */
export const backoffMs = (attempt: number, random: number, askedMs = 0): number => {
  const ceiling = Math.min(limits.deliveryBackoffMs, firstMs * 2 ** Math.min(attempt, 16));
  return Math.max(ceiling / 2 + (ceiling / 2) * random, Math.min(askedMs, limits.deliveryRetryAfterMs));
};
