import { z } from 'zod';
import { sessionKey } from '../domain/keys/session-key.ts';
import { deliveryReport } from '../domain/values/delivery.ts';
import { deliveryTarget } from '../domain/values/types.ts';
import type { Undelivered } from '../ports/dead-letters.ts';
import { codecOf } from './records.ts';

/** What a dead letter of delivery holds. Before there were outcomes, all of them had failed. */
const undelivered = z.object({
  id: deliveryReport.shape.outboundId,
  seq: z.int().min(0),
  key: sessionKey,
  target: deliveryTarget,
  kind: deliveryReport.shape.kind,
  text: z.string(),
  turnId: z.string(),
  outcome: deliveryReport.shape.outcome.default('failed'),
  parts: deliveryReport.shape.parts,
}) satisfies z.ZodType<Undelivered, unknown>;
export const undeliveredCodec = codecOf<Undelivered>(undelivered);
