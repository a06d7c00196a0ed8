import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { attachment } from './attachment.ts';
import { programFields } from './client-request.ts';
import { stepDetails } from './reasoning.ts';

/** Values shared by commands, events and state. Plain data: they survive MessagePack and JSON unchanged. */

/** Milliseconds since 1970, UTC, up to the year 9999: the range of a CloudEvents time (RFC 3339). */
export const timestamp = z.number().min(0).max(253_402_300_799_999);

/** A turn and its attempt. The attempt grows with each resume and is never reused: it fences late results (I5). */
export const turnRef = z.object({ id: z.string().min(1).max(128), attempt: z.int().min(1) });
export type TurnRef = z.infer<typeof turnRef>;

/**
 * The sender of a message. `id` is the channel's own id, byte-exact. The router adds the rest (A5/66): `role`, and `principal`,
 * the person behind the id, which is a name of `session.identityLinks` or `<channel>:<id>`.
 */
export const sender = z.object({
  id: z.string().min(1).max(256),
  name: z.string().max(256).optional(),
  role: z.enum(['owner', 'participant', 'program']).optional(),
  principal: z.string().min(1).max(512).optional(),
  /** On a program that a participant started: it has no more rights than they (A5/62). */
  onBehalfOf: z.literal('participant').optional(),
});
export type Sender = z.infer<typeof sender>;

/**
 * Where an answer goes. `channel` names the outlet; `to` is the channel's raw routing id. Absent: the caller fetches or streams
 * the answer.
 */
export const deliveryTarget = z.object({
  channel: z.string().min(1).max(64),
  to: z.string().min(1).max(512),
  accountId: z.string().max(128).optional(),
  threadId: z.string().max(128).optional(),
});
export type DeliveryTarget = z.infer<typeof deliveryTarget>;
/**
 * The channel between sessions: `to` is a session's key, `threadId` a spawned run, `accountId` the generation that spawned it
 * (A11/125).
 */
export const sessionChannel = 'session';

/** Where a session comes from (A3/42). Set once, and kept when it is reopened (A5/65). */
export const sessionSource = z.object({
  kind: z.string().min(1).max(32),
  interactive: z.boolean(),
  platform: z.string().max(64).optional(),
  triggerId: z.string().max(128).optional(),
  type: z.enum(['direct', 'group']).optional(),
  /** The platform's own ids of where it started, such as `telegram_chat_id` (A3/41). */
  ids: z.record(z.string().max(64), z.string().max(256)).optional(),
});
export type SessionSource = z.infer<typeof sessionSource>;

/**
 * Where a session's messages come from (A13/132–137, A2/13): labels for lists, and raw routing ids. Best effort; fields that a
 * later message lacks are kept.
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

/** A text by Natter itself to a person, such as the answer to a chat command. `code` is for programs. */
export const notice = z.object({
  code: z.string().min(1).max(64),
  text: z.string().max(limits.noticeCharacters),
  deliverTo: deliveryTarget.optional(),
});
export type Notice = z.infer<typeof notice>;
/** What tells the owner, in some of their sessions. */
export const ownersNotices = z.array(notice).max(5);

/** Tokens of one model step. `estimated` is true if the provider did not count them. */
export const usage = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  totalTokens: z.int().min(0),
  estimated: z.boolean().optional(),
  /** The cost of the step in US dollars, if the provider reports it. */
  costUsd: z.number().min(0).optional(),
});
export type Usage = z.infer<typeof usage>;

/** One message from a person or program to the session. */
export const message = z.object({
  messageId: z.string().min(1).max(256),
  text: z.string().max(262_144),
  sender,
  deliverTo: deliveryTarget.optional(),
  /** The spawned run whose result this is; it is answered where the session's last answers went (A13/138). */
  answers: z.string().min(1).max(limits.idCharacters).optional(),
  attachments: z.array(attachment).max(limits.attachments).optional(),
  /** The platform's id of the message that this one replies to. */
  replyTo: z.string().min(1).max(128).optional(),
  /** The owner said it to the group, not to the agent: the model is told so (A6/76, D3). */
  aside: z.literal('owner').optional(),
  /** The channel that it came from. Absent: that of `deliverTo`, or none. */
  channel: deliveryTarget.shape.channel.optional(),
  ...programFields,
});
export type Message = z.infer<typeof message>;

/** A tool call as the model wrote it: `arguments` is its text, which is JSON if the model got it right. */
export const requestedCall = z.object({
  tool: z.string().min(1).max(128),
  arguments: z.string().max(limits.toolArgumentsCharacters),
});
/** `callId` is unique in the session, and the idempotency key of the effect (I6). `client`: the program that sent the message runs it. */
export const toolCall = requestedCall.extend({
  callId: z.string().min(1).max(limits.callIdCharacters),
  client: z.literal(true).optional(),
});
export type RequestedCall = z.infer<typeof requestedCall>;
export type ToolCall = z.infer<typeof toolCall>;

/** A run in another session that this session spawned; it ends when this one is stopped (A11/125). */
export const spawnedRun = z.object({
  key: z.string().min(1).max(limits.sessionKeyBytes),
  runId: z.string().min(1).max(limits.idCharacters),
  /** The result of the run gives the session no more rights than the sender who started it. */
  onBehalfOf: sender.shape.onBehalfOf,
  /** The one person who asked for it, and may stop it (D7). Absent: the owner, a program or several people. */
  askedBy: sender.shape.principal,
});
export type SpawnedRun = z.infer<typeof spawnedRun>;

/** A request for approval of a call (A5/62). `hash` binds the answer to the tool and its exact arguments (I7). */
export const approvalRequest = z.object({
  approvalId: z.string().min(1).max(limits.idCharacters),
  /** The action, in words for people. */
  action: z.string().max(2_000),
  expiresAt: timestamp,
  callId: toolCall.shape.callId.optional(),
  tool: requestedCall.shape.tool.optional(),
  hash: z.string().max(128).optional(),
  /** `retry`: the call was started, its host died, and it is unknown whether it took effect (I6). Default: `run`. */
  asks: z.enum(['run', 'retry']).optional(),
  /** Principals who may answer besides the owner. */
  approvers: z.array(z.string().min(1).max(512)).max(64).optional(),
  /** Whose calls a permanent grant covers. */
  holder: z.string().min(1).max(544).optional(),
  /** The answer covers this call only, whatever it says. */
  onceOnly: z.literal(true).optional(),
  /** The run in another session that the call spawns when approved. */
  spawn: spawnedRun.optional(),
  /** The turn does not wait: once approved, a turn of its own makes the call, for the `principal` (ADR 22). */
  deferred: z
    .object({ arguments: requestedCall.shape.arguments, principal: sender.shape.principal, deliverTo: deliveryTarget.optional() })
    .optional(),
});
export type ApprovalRequest = z.infer<typeof approvalRequest>;

/** The tool policy's decision on a call, in the order of the calls. */
export const ruling = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('run'), spawn: spawnedRun.optional() }),
  /** `invalid`: not forbidden, but the tool does not exist or its arguments cannot be parsed. The call ends as an error. */
  z.object({ kind: z.literal('deny'), reason: z.string().max(2_000), invalid: z.literal(true).optional() }),
  /** `notices` tell the owner of a deferred question. */
  z.object({
    kind: z.literal('ask'),
    request: approvalRequest.omit({ callId: true, tool: true }),
    notices: ownersNotices.optional(),
  }),
  /** The program that sent the message runs it; results must be there by `expiresAt`. */
  z.object({ kind: z.literal('client'), expiresAt: timestamp }),
]);
export type Ruling = z.infer<typeof ruling>;

/**
 * The outcome of a call. `unknown`: it was started, and whether it took effect is not known. `expired`: its approval was not
 * answered in time.
 */
export const toolOutcome = z.enum(['ok', 'error', 'denied', 'expired', 'unknown']);
export type ToolOutcome = z.infer<typeof toolOutcome>;

/** A part of the system prompt and its length (A11/124). */
export const promptPart = z.object({
  name: z.string().max(128),
  characters: z.int().min(0),
  /** Ids of the memories that the part shows, in its order (A7/82). */
  memories: z.array(z.string().max(limits.idCharacters)).max(200).optional(),
});
export type PromptPart = z.infer<typeof promptPart>;

/** The purpose of a turn that does not answer a message. */
export const turnTask = z.object({
  kind: z.literal('compact'),
  instructions: z.string().max(2_000).optional(),
  notice: notice.omit({ text: true }).optional(),
});
export type TurnTask = z.infer<typeof turnTask>;

/** The outcome of one model step. */
export const stepOutcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('reply'), text: z.string(), model: z.string(), usage, ...stepDetails }),
  /** More steps follow: after these calls, or at once. */
  z.object({
    kind: z.literal('continue'),
    text: z.string(),
    model: z.string(),
    usage,
    calls: z.array(requestedCall).max(limits.stepCalls).optional(),
    ...stepDetails,
  }),
  z.object({ kind: z.literal('failed'), code: z.string().max(64), message: z.string().max(2_000) }),
]);
export type StepOutcome = z.infer<typeof stepOutcome>;
