import { z } from 'zod';
import { arrivals } from './arrivals.ts';

/**
 * A person has decided to go on although commits are lost: what the session is continues from this commit alone. The first event of its commit;
 * a reset follows. Ids, generation and epoch are the last that are known.
 */
export const historyDamaged = z.object({
  type: z.literal('history_damaged'),
  v: z.literal(1),
  damage: z.enum(['missing', 'changed', 'unreadable']),
  fromRev: z.int().min(1),
  toRev: z.int().min(1),
  by: z.string(),
  reason: z.string(),
  sessionId: z.string(),
  generation: z.int().min(0),
  epoch: z.int().min(0),
  /** What is still known of arrivals, so that a repeat is recognised after a repair too (D9). Absent in older logs. */
  arrivals: arrivals.optional(),
});
