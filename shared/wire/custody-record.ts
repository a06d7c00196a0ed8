import { z } from 'zod';
import { sessionKey } from '../domain/keys/session-key.ts';
import { deliveryTarget } from '../domain/values/types.ts';
import { limits } from '../kit/limits.ts';
import type { CustodyRecord } from '../ports/custody-log.ts';
import { codecOf } from './records.ts';

const count = z.int().min(0);
const messageId = z.string().max(limits.platformIdCharacters);
const custodyParts = z.object({
  cuts: z
    .array(z.object({ end: count, next: count, fence: z.string().max(limits.fenceCharacters).optional() }))
    .min(1)
    .max(limits.deliveryParts),
  digest: z.string().max(64),
  done: z.array(messageId.nullable()).max(limits.deliveryParts + 1),
  refused: z
    .array(count)
    .max(limits.deliveryParts + 1)
    .optional(),
});

/** A record of the delivery log. */
export const custodyRecord = z.object({
  v: z.literal([1, 2]),
  outboundId: z.string().min(1).max(128),
  outboundSeq: count,
  key: sessionKey,
  target: deliveryTarget,
  state: z.enum(['prepared', 'sending', 'delivered', 'partial', 'unknown', 'suppressed', 'failed']),
  attempt: count,
  at: z.number(),
  by: z.string().max(256).optional(),
  detail: z.string().optional(),
  parts: custodyParts.optional(),
  form: z.enum(['plain', 'mark']).optional(),
  messageId: messageId.optional(),
  failure: z.enum(['transient', 'rate_limit', 'auth', 'permission', 'not_found', 'gone', 'invalid']).optional(),
  uncounted: count.optional(),
  notBefore: z.number().optional(),
  uncertainSince: z.number().optional(),
}) satisfies z.ZodType<CustodyRecord, unknown>;
export const custodyCodec = codecOf<CustodyRecord>(custodyRecord);
