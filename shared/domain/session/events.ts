import { z } from 'zod';
import { clientEvents } from '../values/client-events.ts';
import { deliveryEvents } from '../values/delivery-events.ts';
import { resetCause } from '../values/expiry.ts';
import { forkBase } from '../values/fork-base.ts';
import { skillRef } from '../values/memory-edit.ts';
import { stepDetails } from '../values/reasoning.ts';
import { settings, settingsChange } from '../values/settings.ts';
import {
  approvalRequest,
  deliveryTarget,
  message,
  notice,
  origin,
  promptPart,
  sender,
  sessionSource,
  spawnedRun,
  timestamp,
  toolCall,
  toolOutcome,
  turnRef,
  usage,
} from '../values/types.ts';
import { historyDamaged } from './damage-event.ts';
import { introspectionEvents } from './introspection-events.ts';
import { askedBy, queuedTurn } from './queued-turn.ts';
import { revisionEvents } from './repeats/revision-events.ts';

/**
 * The events of a session. Past tense and permanent: an event is never refused and never edited. Each carries its version `v`.
 * Changing a shape increases the version and adds a step to `upcast.ts`; a new optional field does not.
 * `docs/integrate/events.md` is generated from these schemas.
 */
const v1 = z.literal(1);
const id = z.string();

export const sessionEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session_opened'), v: v1, sessionId: id, generation: z.int().min(1), source: sessionSource }),
  z.object({ type: z.literal('session_reopened'), v: v1 }),
  /** Somebody opened the session; the participant has the current identity (A5/66). */
  z.object({ type: z.literal('participant_resolved'), v: v1, participant: sender }),
  /** The complete origin from here on. */
  z.object({ type: z.literal('origin_changed'), v: v1, origin }),
  /** Where answers go that have no message to reply to (A13/138). */
  z.object({ type: z.literal('route_changed'), v: v1, deliverTo: deliveryTarget }),
  z.object({ type: z.literal('settings_changed'), v: v1, changes: settingsChange }),
  /** A text by Natter itself to a person, not by a model. */
  z.object({ type: z.literal('notice'), v: v1, notice, sendPolicy: settings.shape.sendPolicy }),
  z.object({ type: z.literal('user_message'), v: v1, message, turnId: id.optional() }),
  ...revisionEvents,
  z.object({
    type: z.literal('message_refused'),
    v: v1,
    messageId: id,
    turnId: id.optional(),
    code: z.enum(['queue_full', 'session_deleted', 'session_busy']),
    /** The spawned run whose result this message was. */
    answers: id.optional(),
  }),
  z.object({ type: z.literal('turn_queued'), v: v1, turn: queuedTurn, position: z.int().min(1) }),
  /** `merged`: queued turns that it answers too. `quietUntil`: no model step before; more messages may join (B6). */
  z.object({
    type: z.literal('turn_started'),
    v: v1,
    turn: queuedTurn,
    attempt: z.int().min(1),
    merged: z.array(z.object({ id, messageId: id })).optional(),
    quietUntil: timestamp.optional(),
  }),
  /** The message joins the running turn: its next step sees it, and its run `runId` ends with that turn (B6). */
  z.object({
    type: z.literal('turn_joined'),
    v: v1,
    turn: turnRef,
    messageId: id,
    runId: id,
    quietUntil: timestamp.optional(),
    askedBy,
  }),
  z.object({ type: z.literal('turn_resumed'), v: v1, turn: turnRef, step: z.int().min(1), reason: z.string().optional() }),
  /** The parts of the system prompt from here on. */
  z.object({ type: z.literal('prompt_changed'), v: v1, parts: z.array(promptPart) }),
  /** The skills that the model sees from here on (A15/166). */
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
    /** How many of the messages that joined the turn the model had seen in this step. */
    heard: z.int().min(0).optional(),
    /** The step belongs to a memory flush and answers nobody (A7/85). */
    flush: z.literal(true).optional(),
    ...stepDetails,
  }),
  /**
   * The intent, recorded before the tool runs (I6). `callAttempt` counts the starts of this call; `approvalId` is the approval
   * that allowed it.
   */
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
  /**
   * The result of a call. `text` is what the model sees. With `pages`, it is the first of that many, and `tool_output` events
   * hold all of them.
   */
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
  /** The summary replaces everything up to `throughRev`; the events themselves stay (A11/126). */
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
  /** Runs that this session spawned are to end (A11/125). */
  z.object({ type: z.literal('runs_stopped'), v: v1, runs: z.array(spawnedRun).min(1), reason: z.string() }),
  z.object({
    type: z.literal('assistant_message'),
    v: v1,
    turn: turnRef,
    messageId: id,
    text: z.string(),
    /** The turn continues: messages had joined it that the model had not seen yet (B6). */
    interim: z.literal(true).optional(),
    /** The run continues: runs that the session spawned have not ended (A11/125). */
    unfinished: z.literal(true).optional(),
    deliverTo: deliveryTarget.optional(),
    /** The session's own send policy at that time (A9/96). */
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
  /** `deliverTo`: the session that spawned the run and waits for its end (A11/125). People learn of it from whoever aborts. */
  z.object({
    type: z.literal('turn_aborted'),
    v: v1,
    turn: turnRef,
    reason: z.string(),
    deliverTo: deliveryTarget.optional(),
  }),
  /** These waiting turns end; others stay. */
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
  ...clientEvents,
  z.object({
    type: z.literal('session_reset'),
    v: v1,
    previousSessionId: id,
    sessionId: id,
    generation: z.int().min(2),
    reason: z.string(),
    cause: resetCause.optional(),
    /** The queue is kept, because the reset belongs to a queued turn. */
    keepsQueue: z.literal(true).optional(),
    /** The new generation continues from there; what came in between is not part of its conversation (B21). */
    forkedFrom: forkBase.optional(),
  }),
  ...introspectionEvents,
  /**
   * The session is over and forgotten, with its running and queued turns (C9). `erased`: the history before this commit is being
   * removed, and the counts continue from here.
   */
  z.object({
    type: z.literal('session_deleted'),
    v: v1,
    mode: z.enum(['session', 'key', 'erased']),
    /** Its session id; empty if it was never opened. The next generation has another. */
    sessionId: id,
    generation: z.int().min(0),
    epoch: z.int().min(1),
    turnIds: z.array(id),
    reason: z.string(),
    /** The session that spawned the interrupted run and waits for its end. */
    deliverTo: deliveryTarget.optional(),
  }),
  ...deliveryEvents,
  historyDamaged,
  z.object({ type: z.literal('session_deactivated'), v: v1, reason: z.string() }),
]);
export type SessionEvent = z.infer<typeof sessionEvent>;
export type EventType = SessionEvent['type'];
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** True for events that count as use of a session (B11): somebody said something, or it started. Housekeeping does not. */
export const isInteraction = ({ type }: SessionEvent): boolean =>
  type === 'user_message' || type === 'assistant_message' || type === 'session_opened' || type === 'session_reset';

/** All event types, from the schemas: the allow-list in front of every actor (a forged `xstate.done.*` must never get in). */
export const eventTypes = sessionEvent.options.map((option) => option.shape.type.value) as readonly EventType[];
