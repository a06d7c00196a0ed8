import { backoffMs, jittered } from '../../shared/kit/backoff.ts';
import { deliveryLimits } from './delivery-limits.ts';

const retries = { firstMs: 500, mostMs: deliveryLimits.backoffMs };

/**
 * Milliseconds to wait before attempt `attempt + 1`: doubling and capped, with jitter in the upper half (`random` in 0..1), so that
 * deliveries that failed together do not come back together.
 */
export const retryMs = (attempt: number, random: number): number => jittered(backoffMs(retries, attempt), random);
