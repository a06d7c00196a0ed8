import { z } from 'zod';
import { resetCause } from '../values/expiry.ts';
import { skillRef } from '../values/memory-edit.ts';
import {
  approvalRequest,
  deliveryTarget,
  forkBase,
  message,
  notice,
  origin,
  promptPart,
  sender,
  sessionSource,
  settings,
  settingsChange,
  spawnedRun,
  timestamp,
  toolCall,
  toolOutcome,
  turnRef,
  turnTask,
  usage,
} from '../values/types.ts';
import { reviewEvents } from './introspection-events.ts';

/**
 * What has happened to a session. Past tense and permanent: an event is never refused and never edited. Each carries its version `v`;
 * when a shape changes the version is raised and `upcast.ts` gains a step; a new optional field is no such change. `docs/integrate/events.md` is generated from these schemas.
 */
const v1 = z.literal(1);
const id = z.string();
/** A turn that waits, or begins. */
export const queuedTurn = z.object({
  id,
  messageId: id,
  deliverTo: deliveryTarget.optional(),
  /** The session was stale when the message came: its turn begins a generation with this id (A4/43, 57). */
  renews: z.object({ sessionId: id, cause: resetCause }).optional(),
  /** May be answered together with those that wait before and behind it (B6). */
  collect: z.literal(true).optional(),
  task: turnTask.optional(),
});
export type QueuedTurn = z.infer<typeof queuedTurn>;

export const sessionEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session_opened'), v: v1, sessionId: id, generation: z.int().min(1), source: sessionSource }),
  z.object({ type: z.literal('session_reopened'), v: v1 }),
  /** Somebody opened the session: who they are now (A5/66). */
  z.object({ type: z.literal('participant_resolved'), v: v1, participant: sender }),
  /** All that is known of the origin from here on. */
  z.object({ type: z.literal('origin_changed'), v: v1, origin }),
  /** Where answers go that have no message of their own to go back to (A13/138). */
  z.object({ type: z.literal('route_changed'), v: v1, deliverTo: deliveryTarget }),
  z.object({ type: z.literal('settings_changed'), v: v1, changes: settingsChange }),
  /** Natter itself tells a person something; no model has said it. */
  z.object({ type: z.literal('notice'), v: v1, notice, sendPolicy: settings.shape.sendPolicy }),
  z.object({ type: z.literal('user_message'), v: v1, message, turnId: id.optional() }),
  z.object({
    type: z.literal('message_refused'),
    v: v1,
    messageId: id,
    turnId: id.optional(),
    code: z.enum(['queue_full', 'session_deleted', 'session_busy']),
    /** The spawned run that it would have been the result of. */
    answers: id.optional(),
  }),
  z.object({ type: z.literal('turn_queued'), v: v1, turn: queuedTurn, position: z.int().min(1) }),
  /** `merged`: turns that waited and are answered by this one. `quietUntil`: no model step before that, more may join (B6). */
  z.object({
    type: z.literal('turn_started'),
    v: v1,
    turn: queuedTurn,
    attempt: z.int().min(1),
    merged: z.array(z.object({ id, messageId: id })).optional(),
    quietUntil: timestamp.optional(),
  }),
  /** The message joins the running turn: its next step hears it, and its run `runId` ends with that turn (B6). */
  z.object({ type: z.literal('turn_joined'), v: v1, turn: turnRef, messageId: id, runId: id, quietUntil: timestamp.optional() }),
  z.object({ type: z.literal('turn_resumed'), v: v1, turn: turnRef, step: z.int().min(1), reason: z.string().optional() }),
  /** What the system prompt is made of from here on. */
  z.object({ type: z.literal('prompt_changed'), v: v1, parts: z.array(promptPart) }),
  /** The skills that the model is told of from here on (A15/166). */
  z.object({ type: z.literal('skills_changed'), v: v1, skills: z.array(skillRef) }),
  z.object({
    type: z.literal('model_step'),
    v: v1,
    turn: turnRef,
    step: z.int().min(1),
    text: z.string(),
    finish: z.enum(['stop', 'continue']),
    model: z.string(),
    usage,
    calls: z.array(toolCall).optional(),
    /** How many of the messages that joined the turn the model had before this step. */
    heard: z.int().min(0).optional(),
    /** The step served the memory and answers nobody (A7/85). */
    flush: z.literal(true).optional(),
  }),
  /** The intent: recorded before the tool runs (I6). `callAttempt` counts how often this call was begun; `approvalId` allowed it. */
  z.object({
    type: z.literal('tool_call_started'),
    v: v1,
    turn: turnRef,
    callId: id,
    tool: z.string(),
    callAttempt: z.int().min(1),
    approvalId: id.optional(),
    spawn: spawnedRun.optional(),
  }),
  /** How a call ended. `text` is what the model sees; with `pages` it is the first of as many, and `tool_output` has them all. */
  z.object({
    type: z.literal('tool_result'),
    v: v1,
    turn: turnRef,
    callId: id,
    tool: z.string(),
    outcome: toolOutcome,
    text: z.string(),
    bytes: z.int().min(0),
    pages: z.int().min(2).optional(),
  }),
  /** One page of a long output, from 1. */
  z.object({ type: z.literal('tool_output'), v: v1, callId: id, page: z.int().min(1), text: z.string() }),
  /** The summary stands for what was said up to `throughRev`; the events themselves stay as they are (A11/126). */
  z.object({
    type: z.literal('context_compacted'),
    v: v1,
    turn: turnRef,
    summary: z.string(),
    throughRev: z.int().min(1),
    keptFromSeq: z.int().min(1),
    tokensBefore: z.int().min(0),
    tokensAfter: z.int().min(0),
    instructions: z.string().optional(),
    model: z.string(),
    usage,
  }),
  /** Runs that this session began in others are to end (A11/125). */
  z.object({ type: z.literal('runs_stopped'), v: v1, runs: z.array(spawnedRun).min(1), reason: z.string() }),
  z.object({
    type: z.literal('assistant_message'),
    v: v1,
    turn: turnRef,
    messageId: id,
    text: z.string(),
    /** The turn goes on: messages had joined it that the model had not heard when it said this (B6). */
    interim: z.literal(true).optional(),
    /** The run is not over: runs that the session has begun in others go on (A11/125). */
    unfinished: z.literal(true).optional(),
    deliverTo: deliveryTarget.optional(),
    /** The session's own word on sending, as it was then (A9/96). */
    sendPolicy: settings.shape.sendPolicy,
  }),
  z.object({ type: z.literal('turn_completed'), v: v1, turn: turnRef }),
  z.object({
    type: z.literal('turn_failed'),
    v: v1,
    turn: turnRef,
    code: z.string(),
    message: z.string(),
    unfinished: z.literal(true).optional(),
    deliverTo: deliveryTarget.optional(),
    sendPolicy: settings.shape.sendPolicy,
  }),
  /** `deliverTo`: the session that began the run and waits for its end (A11/125); people are told by whoever aborts. */
  z.object({
    type: z.literal('turn_aborted'),
    v: v1,
    turn: turnRef,
    reason: z.string(),
    deliverTo: deliveryTarget.optional(),
  }),
  z.object({ type: z.literal('queue_cleared'), v: v1, turnIds: z.array(id), reason: z.string() }),
  z.object({
    type: z.literal('approval_requested'),
    v: v1,
    turn: turnRef,
    ...approvalRequest.shape,
    deliverTo: deliveryTarget.optional(),
    sendPolicy: settings.shape.sendPolicy,
  }),
  z.object({
    type: z.literal('approval_resolved'),
    v: v1,
    turn: turnRef,
    approvalId: id,
    verdict: z.enum(['granted', 'denied', 'expired']),
    by: id,
    scope: z.enum(['once', 'always']).optional(),
    callId: id.optional(),
    reason: z.string().optional(),
  }),
  z.object({
    type: z.literal('session_reset'),
    v: v1,
    previousSessionId: id,
    sessionId: id,
    generation: z.int().min(2),
    reason: z.string(),
    cause: resetCause.optional(),
    /** The turns that wait go on waiting: the reset is one of theirs. */
    keepsQueue: z.literal(true).optional(),
    /** The new generation goes on from there; of what came between the conversation knows nothing (B21). */
    forkedFrom: forkBase.optional(),
  }),
  ...reviewEvents,
  /**
   * The session is over and forgotten, the turns that ran or waited with it (C9). `erased`: the history before this commit is being removed,
   * and the counts go on from here.
   */
  z.object({
    type: z.literal('session_deleted'),
    v: v1,
    mode: z.enum(['session', 'key', 'erased']),
    /** The id it had; empty if it was never opened. The next generation has another. */
    sessionId: id,
    generation: z.int().min(0),
    epoch: z.int().min(1),
    turnIds: z.array(id),
    reason: z.string(),
    /** The session that began the run which was going on, and waits for its end. */
    deliverTo: deliveryTarget.optional(),
  }),
  z.object({ type: z.literal('session_deactivated'), v: v1, reason: z.string() }),
]);
export type SessionEvent = z.infer<typeof sessionEvent>;
export type EventType = SessionEvent['type'];
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** True of what counts as use of a session: somebody said something, or it began. Housekeeping does not keep it fresh (B11). */
export const isInteraction = ({ type }: SessionEvent): boolean =>
  type === 'user_message' || type === 'assistant_message' || type === 'session_opened' || type === 'session_reset';

/** All event types, from the schemas: the allow-list in front of every actor (a forged `xstate.done.*` must never get in). */
export const eventTypes = sessionEvent.options.map((option) => option.shape.type.value) as readonly EventType[];
