import { z } from 'zod';
import { limits } from '../kit/limits.ts';

/** Parts that commands, events and state have in common. Everything is plain data: it survives MessagePack and JSON unchanged. */

/** Milliseconds since 1970, UTC, up to the year 9999: what a CloudEvents time (RFC 3339) can say. */
export const timestamp = z.number().min(0).max(253_402_300_799_999);

/** A turn and the attempt at it. The attempt grows with each resume and is never used again: it fences late results (I5). */
export const turnRef = z.object({ id: z.string().min(1).max(128), attempt: z.int().min(1) });
export type TurnRef = z.infer<typeof turnRef>;

/**
 * Who wrote a message. `id` is the channel's own id, byte-exact. The router resolves the rest (A5/66): `role`, and `principal`, the person
 * behind the id, which is a name of `session.identityLinks` or `<channel>:<id>`.
 */
export const sender = z.object({
  id: z.string().min(1).max(256),
  name: z.string().max(256).optional(),
  role: z.enum(['owner', 'participant', 'program']).optional(),
  principal: z.string().min(1).max(512).optional(),
});
export type Sender = z.infer<typeof sender>;

/** Where an answer goes. `channel` names the outlet; `to` is the channel's raw routing id. Absent: the reader fetches or follows. */
export const deliveryTarget = z.object({
  channel: z.string().min(1).max(64),
  to: z.string().min(1).max(512),
  accountId: z.string().max(128).optional(),
  threadId: z.string().max(128).optional(),
});
export type DeliveryTarget = z.infer<typeof deliveryTarget>;

/** Where a session comes from (A3/42). Set once, preserved on reopening (A5/65). */
export const sessionSource = z.object({
  kind: z.string().min(1).max(32),
  interactive: z.boolean(),
  platform: z.string().max(64).optional(),
  triggerId: z.string().max(128).optional(),
  type: z.enum(['direct', 'group']).optional(),
  /** The platform's own ids of where it began, such as `telegram_chat_id` (A3/41). */
  ids: z.record(z.string().max(64), z.string().max(256)).optional(),
});
export type SessionSource = z.infer<typeof sessionSource>;

/**
 * Where a session's messages come from, as people know it (A13/132–137, A2/13): labels for lists and raw routing ids. Best effort; what a
 * later message leaves out is kept.
 */
const label = z.string().min(1).max(256).optional();
export const origin = z.object({
  label,
  /** The channel, normalised. */
  provider: z.string().min(1).max(64).optional(),
  from: z.string().min(1).max(512).optional(),
  to: z.string().min(1).max(512).optional(),
  accountId: z.string().max(128).optional(),
  threadId: z.string().max(128).optional(),
  displayName: label,
  subject: label,
  room: label,
  space: label,
});
export type Origin = z.infer<typeof origin>;

/** What people set for one session; unset means: as configured. Kept over a reset. */
export const settings = z.object({
  sendPolicy: z.enum(['allow', 'deny']).optional(),
  model: z.string().min(1).max(256).optional(),
  thinkingLevel: z.string().min(1).max(32).optional(),
  verboseLevel: z.string().min(1).max(32).optional(),
  displayName: label,
});
export type Settings = z.infer<typeof settings>;
/** A change of settings; `null` unsets one. */
export const settingsChange = z.object({
  sendPolicy: settings.shape.sendPolicy.nullable(),
  model: settings.shape.model.nullable(),
  thinkingLevel: settings.shape.thinkingLevel.nullable(),
  verboseLevel: settings.shape.verboseLevel.nullable(),
  displayName: settings.shape.displayName.nullable(),
});
export type SettingsChange = z.infer<typeof settingsChange>;

/** What Natter itself tells a person: the answer to a chat command, say. `code` is for programs. */
export const notice = z.object({
  code: z.string().min(1).max(64),
  text: z.string().max(limits.noticeCharacters),
  deliverTo: deliveryTarget.optional(),
});
export type Notice = z.infer<typeof notice>;

/** Tokens of one model step. `estimated` is true where the provider did not count them itself. */
export const usage = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  totalTokens: z.int().min(0),
  estimated: z.boolean().optional(),
});
export type Usage = z.infer<typeof usage>;

/** One message from a person or program to the session. `turnId` is the turn it asks for; without one it is only remembered (A5/69). */
export const message = z.object({
  messageId: z.string().min(1).max(256),
  text: z.string().max(262_144),
  sender,
  deliverTo: deliveryTarget.optional(),
});

/** What the model said in one step, or why it could not. */
export const stepOutcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('reply'), text: z.string(), model: z.string(), usage }),
  z.object({ kind: z.literal('continue'), text: z.string(), model: z.string(), usage }),
  z.object({ kind: z.literal('failed'), code: z.string().max(64), message: z.string().max(2_000) }),
]);
export type StepOutcome = z.infer<typeof stepOutcome>;
