import { z } from 'zod';
import { deliveryRepeat, deliveryReport } from './delivery.ts';
import { settings } from './settings.ts';

/** What became of outgoing messages (D12). */
const v1 = z.literal(1);
export const deliveryEvents = [
  /** `past`: the message is of an earlier generation, so the model is not told. */
  z.object({ type: z.literal('delivery_reported'), v: v1, ...deliveryReport.shape, past: z.literal(true).optional() }),
  /** `by`: who decided it, as a principal. The receiver may get the message twice. */
  z.object({
    type: z.literal('delivery_repeated'),
    v: v1,
    ...deliveryRepeat.shape,
    by: z.string(),
    sendPolicy: settings.shape.sendPolicy,
  }),
] as const;
