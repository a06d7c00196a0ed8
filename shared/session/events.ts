import { z } from 'zod';
import { deliveryTarget, message, sessionSource, turnRef, usage } from './types.ts';

/**
 * What has happened to a session. Past tense and permanent: an event is never refused and never edited. Each carries its version `v`;
 * when a shape changes the version is raised and `upcast.ts` gains a step. `docs/events.md` is generated from these schemas.
 */
const v1 = z.literal(1);
const id = z.string();
const queuedTurn = z.object({ id, messageId: id, deliverTo: deliveryTarget.optional() });
export type QueuedTurn = z.infer<typeof queuedTurn>;

export const sessionEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session_opened'), v: v1, sessionId: id, generation: z.int().min(1), source: sessionSource }),
  z.object({ type: z.literal('session_reopened'), v: v1 }),
  z.object({ type: z.literal('user_message'), v: v1, message, turnId: id.optional() }),
  z.object({
    type: z.literal('message_refused'),
    v: v1,
    messageId: id,
    turnId: id.optional(),
    code: z.enum(['queue_full']),
  }),
  z.object({ type: z.literal('turn_queued'), v: v1, turn: queuedTurn, position: z.int().min(1) }),
  z.object({ type: z.literal('turn_started'), v: v1, turn: queuedTurn, attempt: z.int().min(1) }),
  z.object({ type: z.literal('turn_resumed'), v: v1, turn: turnRef, step: z.int().min(1) }),
  z.object({
    type: z.literal('model_step'),
    v: v1,
    turn: turnRef,
    step: z.int().min(1),
    text: z.string(),
    finish: z.enum(['stop', 'continue']),
    model: z.string(),
    usage,
  }),
  z.object({
    type: z.literal('assistant_message'),
    v: v1,
    turn: turnRef,
    messageId: id,
    text: z.string(),
    deliverTo: deliveryTarget.optional(),
  }),
  z.object({ type: z.literal('turn_completed'), v: v1, turn: turnRef }),
  z.object({
    type: z.literal('turn_failed'),
    v: v1,
    turn: turnRef,
    code: z.string(),
    message: z.string(),
    deliverTo: deliveryTarget.optional(),
  }),
  z.object({ type: z.literal('turn_aborted'), v: v1, turn: turnRef, reason: z.string() }),
  z.object({ type: z.literal('queue_cleared'), v: v1, turnIds: z.array(id), reason: z.string() }),
  z.object({
    type: z.literal('approval_requested'),
    v: v1,
    turn: turnRef,
    approvalId: id,
    action: z.string(),
    expiresAt: z.number(),
  }),
  z.object({
    type: z.literal('approval_resolved'),
    v: v1,
    turn: turnRef,
    approvalId: id,
    verdict: z.enum(['granted', 'denied', 'expired']),
    by: id,
    reason: z.string().optional(),
  }),
  z.object({
    type: z.literal('session_reset'),
    v: v1,
    previousSessionId: id,
    sessionId: id,
    generation: z.int().min(2),
    reason: z.string(),
  }),
  z.object({ type: z.literal('session_deactivated'), v: v1, reason: z.string() }),
]);
export type SessionEvent = z.infer<typeof sessionEvent>;
export type EventType = SessionEvent['type'];
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** All event types, from the schemas: the allow-list in front of every actor (§4: a forged `xstate.done.*` must never get in). */
export const eventTypes = sessionEvent.options.map((option) => option.shape.type.value) as readonly EventType[];

/**
 * The event type a commit is filed under, most interesting first: `natter.event.approval_requested.>` is a live approvals feed.
 * Part of the public subject contract.
 */
const headlines: readonly EventType[] = [
  'approval_requested',
  'assistant_message',
  'turn_failed',
  'turn_aborted',
  'session_reset',
  'message_refused',
  'approval_resolved',
  'turn_started',
  'turn_resumed',
  'user_message',
];

/** The headline of a commit with these events. */
export const headlineOf = (events: readonly SessionEvent[]): EventType => {
  const present = new Set(events.map(({ type }) => type));
  const headline = headlines.find((type) => present.has(type)) ?? events[0]?.type;
  if (headline === undefined) throw new RangeError('a commit has at least one event');
  return headline;
};
