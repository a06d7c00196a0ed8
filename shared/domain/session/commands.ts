import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { clientRequest } from '../values/client-request.ts';
import { deliveryRepeat, deliveryReport } from '../values/delivery.ts';
import { expiry, resetCause } from '../values/expiry.ts';
import { forkBase } from '../values/fork-base.ts';
import { checkpointReason, memoryEdit, skillRef } from '../values/memory-edit.ts';
import { queueRule } from '../values/queue-rule.ts';
import { settings, settingsChange } from '../values/settings.ts';
import {
  approvalRequest,
  deliveryTarget,
  message,
  notice,
  origin,
  ownersNotices,
  promptPart,
  ruling,
  sender,
  sessionSource,
  spawnedRun,
  stepOutcome,
  timestamp,
  toolCall,
  toolOutcome,
  turnRef,
  turnTask,
  usage,
} from '../values/types.ts';
import { reportFacts } from './report-facts.ts';

/** Commands to a session: imperative, and `decide` may refuse them. A closed set: an unknown type never reaches an actor. */
const id = z.string().min(1).max(limits.idCharacters);

/**
 * What the sender of a message knows about its session. `sessionId` is used if the session is new; `expiry` says when it becomes
 * stale.
 */
const occasion = {
  sessionId: z.string().min(1).max(limits.sessionIdCharacters),
  source: sessionSource.optional(),
  origin: origin.optional(),
  expiry: expiry.optional(),
};

/** The message was said in a group and does not address the agent: the session's own activation decides whether it starts a turn (B28). */
const unaddressed = z.literal(true).optional();

/** How a call ended. */
const callResult = z.object({ callId: toolCall.shape.callId, outcome: toolOutcome, text: z.string() });
export type CallResult = z.infer<typeof callResult>;
const programResult = callResult.extend({ outcome: z.enum(['ok', 'error']) });

export const sessionCommand = z.discriminatedUnion('type', [
  /** Creates the session, or makes an inactive one visible again (A5/64–66). `by` is who opens it, with the current identity. */
  z.object({ type: z.literal('open_session'), ...occasion, by: sender.optional() }),
  /** Stores the message and requests a turn (A5/68). The turn's id is the envelope's `id`. */
  z.object({ type: z.literal('post_message'), ...occasion, message, queue: queueRule.optional(), unaddressed }),
  /** Stores the message without a turn (A5/69, A6/75). */
  z.object({ type: z.literal('append_message'), ...occasion, message, queue: queueRule.optional(), unaddressed }),
  /** The platform reports that somebody edited or deleted a message. `target` is the id of the command that brought it. */
  z.object({ type: z.literal('edit_message'), target: id, text: message.shape.text, by: sender }),
  z.object({ type: z.literal('withdraw_message'), target: id, by: sender }),
  /** Records where the session's messages come from and go to, without a message (A13/138–139). */
  z.object({ type: z.literal('record_origin'), ...occasion, deliverTo: deliveryTarget.optional() }),
  /** Ends the running turn and clears the queue (A11/125). `notice` reports what was stopped. `by`: only what they asked for (D7). */
  z.object({
    type: z.literal('stop'),
    reason: z.string().max(200),
    by: sender.optional(),
    notice: notice.omit({ text: true }).optional(),
  }),
  /** Takes a message out of the queue before its turn begins. With `by`, only one that this person asked for (D7). */
  z.object({ type: z.literal('cancel_queued'), turnId: id, by: sender.optional() }),
  /**
   * Starts a new generation with this session id (A4/53–55). `message` is the new generation's first; `by` is who requested it.
   * `notice` says which model was taken (D5).
   */
  z.object({
    type: z.literal('reset'),
    ...occasion,
    by: sender.optional(),
    cause: resetCause,
    settings: settingsChange.optional(),
    notice: notice.optional(),
    message: message.optional(),
  }),
  /** Changes the session's settings (A9/94–97). */
  z.object({ type: z.literal('patch_session'), settings: settingsChange, notice: notice.optional() }),
  /** Sends a notice to a person and changes nothing else. `toRoute`: to where the session's last answer went, if known. */
  z.object({ type: z.literal('post_notice'), notice, toRoute: z.literal(true).optional() }),
  /** Reports the session's state to a person (A11/123–124). `by`: whose prompt and tools are shown. */
  z.object({ type: z.literal('report'), facts: reportFacts, notice: notice.omit({ text: true }), by: sender.optional() }),
  /** Hides an idle session from normal lists until its next message (A5/63). */
  z.object({ type: z.literal('deactivate_session'), reason: z.string().max(200) }),
  /**
   * Ends a session; its next message starts a new one (C9). Mode `session` refuses groups and running sessions (A8/87–88). `key`
   * is for the operator and does not. `erased` also says that the history before this commit is being removed.
   */
  z.object({ type: z.literal('delete_session'), mode: z.enum(['session', 'key', 'erased']), reason: z.string().max(200) }),
  /**
   * Starts a new generation that continues from an earlier point of the session; the history stays (B21). `ifDeletedGeneration`:
   * only if that is still the last deleted generation, 0 for none. `reason`: what for; a host that does not know it records none.
   */
  z.object({
    type: z.literal('fork'),
    sessionId: occasion.sessionId,
    from: forkBase,
    by: sender.optional(),
    ifDeletedGeneration: z.int().min(0).optional(),
    reason: z.string().max(200).optional(),
  }),
  /**
   * Requests a checkpoint (A7/80–81): because a person asked for it, because `turns` turns were completed since the last one, or
   * because nobody wrote for `idleMs` before `at`.
   */
  z.object({
    type: z.literal('request_checkpoint'),
    why: z.discriminatedUnion('reason', [
      z.object({ reason: z.literal('manual') }),
      z.object({ reason: z.literal('turn_limit'), turns: z.int().min(1) }),
      z.object({ reason: z.literal('idle'), idleMs: z.int().min(1) }),
    ]),
    notice: notice.omit({ text: true }).optional(),
  }),
  /** Records the result of an introspection. It has no effect if another has covered any of its range in the meantime (A7/84). */
  z.object({
    type: z.literal('record_introspection'),
    sessionId: id,
    reason: checkpointReason,
    fromRev: z.int().min(1),
    toRev: z.int().min(1),
    /** Sequence of the commit `toRev`. */
    toSeq: z.int().min(1),
    result: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('done'),
        workingMemory: z.string().max(limits.workingMemoryCharacters).optional(),
        description: settings.shape.description,
        memory: memoryEdit.optional(),
        model: z.string().max(256),
        usage,
      }),
      z.object({ kind: z.literal('failed'), code: z.string().max(64), message: z.string().max(2_000) }),
    ]),
  }),
  /** A person changes long-term memory (A7/82). */
  z.object({ type: z.literal('change_memory'), memory: memoryEdit, by: sender }),
  /** Summarises the conversation so far, in a turn of its own (A11/126). */
  z.object({ type: z.literal('compact'), ...turnTask.omit({ kind: true }).shape }),
  /**
   * After a load: resumes, as the next attempt, a turn that was running when its host died (B16). With `turn` and `reason`: that
   * attempt has stalled for too long (B29).
   */
  z.object({ type: z.literal('resume_turn'), turn: turnRef.optional(), reason: z.string().max(200).optional() }),
  /**
   * The outcome of model step `step` (from 1) of an attempt at a turn. `heard`: how many of the messages that joined the turn the
   * model had seen. `rulings`: the policy's decisions on the calls. `prompt`: the parts of the system prompt. `skills`: the
   * skills it mentioned (A15/166). `flush`: the step belongs to a memory flush and answers nobody (A7/85). `results`: those of the last
   * step's calls that are not recorded yet, of calls that started no run.
   */
  z.object({
    type: z.literal('record_step'),
    turn: turnRef,
    step: z.int().min(1),
    outcome: stepOutcome,
    heard: z.int().min(0).optional(),
    rulings: z.array(ruling).max(limits.stepCalls).optional(),
    prompt: z.array(promptPart).max(limits.promptParts).optional(),
    skills: z.array(skillRef).max(limits.sessionSkills).optional(),
    flush: z.literal(true).optional(),
    results: z.array(callResult).max(limits.stepCalls).optional(),
  }),
  /** A call is about to run: for the first time, or again under the same key (I6). */
  z.object({ type: z.literal('start_call'), turn: turnRef, callId: toolCall.shape.callId, spawn: spawnedRun.optional() }),
  /** The result of a call. */
  z.object({
    type: z.literal('record_result'),
    turn: turnRef,
    ...callResult.shape,
    /** The call's changes to long-term memory (A7/82), recorded with its result so that they happen once. */
    memory: memoryEdit.optional(),
  }),
  /** A summary that replaces everything up to `throughRev`; `keptFromSeq` is the sequence of the first commit after it. */
  z.object({
    type: z.literal('record_compaction'),
    turn: turnRef,
    result: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('compacted'),
        summary: z.string().min(1).max(limits.summaryCharacters),
        throughRev: z.int().min(1),
        keptFromSeq: z.int().min(1),
        tokensBefore: z.int().min(0),
        tokensAfter: z.int().min(0),
        model: z.string().max(256),
        usage,
      }),
      /** There was nothing to summarise. */
      z.object({ kind: z.literal('nothing'), reason: z.string().max(500) }),
    ]),
  }),
  /** The turn waits for an approval (A5/62). */
  z.object({
    type: z.literal('request_approval'),
    turn: turnRef,
    ...approvalRequest.shape,
    notices: ownersNotices.optional(),
  }),
  /** A person's answer to a pending approval. `notice` reports the outcome, including a refusal. */
  z.object({
    type: z.literal('resolve_approval'),
    approvalId: id,
    verdict: z.enum(['granted', 'denied']),
    /** `always`: the same tool with the same arguments needs no further approval in this generation. */
    scope: z.enum(['once', 'always']).optional(),
    by: sender,
    reason: z.string().max(2_000).optional(),
    notice: notice.omit({ text: true }).optional(),
  }),
  /** An outgoing message did not reach its receiver for certain (D12). */
  z.object({ type: z.literal('report_delivery'), ...deliveryReport.shape }),
  /** The owner has an outgoing message sent again (D12). */
  z.object({ type: z.literal('repeat_delivery'), ...deliveryRepeat.shape, by: sender }),
  /** A person decides to go on with a damaged session (F13), in a new generation. */
  z.object({ type: z.literal('repair_history'), reason: z.string().min(1).max(500) }),
  /** Somebody has read the session's log and found it damaged: its host looks, too, and sets it aside if so (F13). */
  z.object({ type: z.literal('check_history') }),
  /** All other calls of the step have ended: the turn waits for the results of the program's own tools. */
  z.object({ type: z.literal('await_results'), turn: turnRef, expiresAt: timestamp }),
  /** The results of all calls that the turn waits for, and what the program says besides. `client` counts from here on. */
  z.object({
    type: z.literal('give_results'),
    results: z.array(programResult).min(1).max(limits.stepCalls),
    by: sender,
    said: message.optional(),
    client: clientRequest.optional(),
  }),
  /** The results of a program's tools were not given in time. */
  z.object({ type: z.literal('expire_results'), turnId: id }),
  /** An approval was not answered in time. */
  z.object({ type: z.literal('expire_approval'), approvalId: id }),
]);
export type SessionCommand = z.infer<typeof sessionCommand>;
export type CommandType = SessionCommand['type'];
export type CommandOf<T extends CommandType> = Extract<SessionCommand, { type: T }>;

/** The message in a command, if there is one. */
export const messageOf = (command: SessionCommand) => ('message' in command ? command.message : undefined);
