import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { channelNameOf } from './channel-name.ts';
import { deliveryTarget } from './types.ts';

/** Longest reason why a message may not have arrived, and how many places where others wait a process reports. */
export const deliveryDetailCharacters = 500;
/** First words of why a message waits. */
export const deliveryWordsCharacters = 200;
export const reportedWaitingPlaces = 100;
/** An outgoing message: `<seq>.<index>` of the event that it came from, and what it was. */
const sentMessage = {
  outboundId: z.string().min(1).max(limits.idCharacters),
  kind: z.enum(['assistant_message', 'notice', 'stop']),
  deliverTo: deliveryTarget,
};
/** That an outgoing message did not reach its receiver for certain (D12). `parts`: how many were sent, of how many. */
export const deliveryReport = z.object({
  ...sentMessage,
  outcome: z.enum(['partial', 'unknown', 'failed']),
  parts: z.object({ sent: z.int().min(0), of: z.int().min(2) }).optional(),
  detail: z.string().max(deliveryDetailCharacters),
});
export type DeliveryReport = z.infer<typeof deliveryReport>;
/** That a person has an outgoing message sent again, or the rest of its parts (D12). */
export const deliveryRepeat = z.object({ ...sentMessage, text: z.string().min(1), turnId: z.string().min(1).max(256) });

/**
 * A conversation, or without `to` an account, whose outgoing messages wait and will be sent. `parked`: nothing goes through for the account
 * until somebody mends it. `detail`: why the last attempt failed. `until`: when it is tried again, ms since 1970. `attempts`: how
 * often the first that waits, or its part in hand, was tried, or the account. `sessionKey`: of that first one. Not what it says: reports are stored where no erasure reaches.
 */
export const waitingDelivery = z.object({
  ...deliveryTarget.shape,
  to: deliveryTarget.shape.to.optional(),
  state: z.enum(['waiting', 'parked']),
  detail: z.string(),
  until: z.number(),
  attempts: z.int().min(1).optional(),
  sessionKey: z.string().optional(),
});
export type WaitingDelivery = z.infer<typeof waitingDelivery>;

/** That the parked accounts of a channel, or one of them, are to be tried again at once. */
export const resumeRequest = deliveryTarget.pick({ channel: true, accountId: true });
export type ResumeRequest = z.infer<typeof resumeRequest>;
/** Whether an account is one of those. */
export const isToResume = ({ channel, accountId }: ResumeRequest, account: ResumeRequest): boolean =>
  channelNameOf(channel) === channelNameOf(account.channel) && (accountId === undefined || accountId === account.accountId);
