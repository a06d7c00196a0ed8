import { z } from 'zod';
import { deliveryReport, waitingDelivery } from '../../../shared/domain/values/delivery.ts';
import { deliveryTarget } from '../../../shared/domain/values/types.ts';
import { custodyRecord } from '../../../shared/wire/custody-record.ts';
import { takenResult } from '../operation/results.ts';

/** The answers about outgoing messages. Objects may get further fields. */

const listedDelivery = z
  .object({
    seq: z.int().min(0),
    state: deliveryReport.shape.outcome,
    outboundId: z.string().describe('`<seq>.<index>` of the event that it came from'),
    sessionKey: z.string(),
    target: deliveryTarget,
    kind: deliveryReport.shape.kind,
    parts: deliveryReport.shape.parts.describe('how many were sent, of how many'),
    detail: z.string(),
    at: z.number(),
  })
  .meta({
    id: 'Delivery',
    description: 'An outgoing message that may not have arrived. `seq` is its place, by which it is found.',
  });
const eventDelivery = z
  .object({
    outboundId: listedDelivery.shape.outboundId,
    kind: deliveryReport.shape.kind,
    target: deliveryTarget,
    state: custodyRecord.shape.state.describe('`prepared` and `sending` are not the end yet'),
    attempt: custodyRecord.shape.attempt.describe('of the message, or of its part in hand; 0: none was begun'),
    at: z.number().optional().describe('since when it is in this state; absent: there is no record of it'),
    notBefore: z.number().optional().describe('when the attempt may begin'),
    messageIds: z
      .array(z.string())
      .describe("the platform's ids of what arrived: one for each part, where the platform tells them"),
    parts: deliveryReport.shape.parts.describe('how many were sent, of how many'),
    failure: custodyRecord.shape.failure.describe('why the last attempt failed'),
    detail: z.string().optional().describe("the same in the receiver's words; to the owner alone"),
  })
  .meta({ id: 'EventDelivery', description: 'An outgoing message, and what became of it.' });
export const sessionDeliveries = z.object({
  deliveries: z.array(eventDelivery).describe('empty: it sends nothing; who follows the events gets those without a target'),
});
export const deliveries = z.object({
  waiting: z.array(waitingDelivery).describe('what will be sent by itself; on the first page only'),
  deliveries: z.array(listedDelivery),
  next: z.int().nullable().describe('the `before` of the next page; `null`: there is none'),
});
const delivered = z
  .object({
    seq: z.int().min(1).describe('its place in the delivery log'),
    outboundId: listedDelivery.shape.outboundId,
    sessionKey: listedDelivery.shape.sessionKey,
    target: deliveryTarget,
    attempt: eventDelivery.shape.attempt,
    at: z.number(),
    messageIds: eventDelivery.shape.messageIds,
    parts: eventDelivery.shape.parts,
    detail: z.string().optional().describe('what the receiver said'),
  })
  .meta({ id: 'DeliveredMessage', description: 'An outgoing message that has arrived.' });
export const deliveredPage = z.object({
  delivered: z.array(delivered),
  next: deliveries.shape.next,
});
export const deliveryRead = listedDelivery.extend({
  text: z.string().describe('what was not sent: the message, or the rest of its parts'),
  repeat: z.object({ isPossible: z.boolean(), why: z.string() }),
});
export const deliveryRepeated = listedDelivery.extend({ command: takenResult, warning: z.string() });
export const deliveryLeft = listedDelivery;
export const accountsResumed = z.object({ accounts: z.array(waitingDelivery).describe('those that are tried again at once') });
