import { z } from 'zod';
import { resetCause } from '../values/expiry.ts';
import { deliveryTarget, requestedCall, spawnedRun, turnTask } from '../values/types.ts';

const id = z.string();
/** The principal of the one person who asked for a turn: they may stop it (D7). */
export const askedBy = z.string().min(1).max(512).optional();

/** A turn that is queued or starts. `askedBy` is absent if the owner, a program or several people asked for it. */
export const queuedTurn = z.object({
  id,
  messageId: id,
  deliverTo: deliveryTarget.optional(),
  /** The session was stale when the message arrived: its turn starts a generation with this id (A4/43, 57). */
  renews: z.object({ sessionId: id, cause: resetCause }).optional(),
  /** May be answered together with its neighbours in the queue (B6). */
  collect: z.literal(true).optional(),
  task: turnTask.optional(),
  /** It begins with this call, which a person has approved (ADR 22). */
  call: requestedCall.extend({ approvalId: id, spawn: spawnedRun.optional() }).optional(),
  askedBy,
  /** Its message is not the owner's, nor of a program that acts for the owner (D7). */
  byStranger: z.literal(true).optional(),
});
export type QueuedTurn = z.infer<typeof queuedTurn>;
