import type { ActiveTurn, CallState } from '../../../shared/domain/session/context.ts';
import type { SpawnedRun, ToolOutcome } from '../../../shared/domain/values/types.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Tool, ToolEnd } from '../../../shared/ports/tools.ts';
import type { Attempt } from './attempt.ts';
import { parseArguments } from './call-hash.ts';
import { grantOf } from './grants.ts';
import { handedOver, type Question, retryQuestion, toolPolicyDecisionOf } from './tool-policy-decisions.ts';
import { runTool } from './tool-run.ts';
import { type TurnContext, toolOf, writtenCall } from './turn-context.ts';

/** What to do about a call that has not ended. `started`: this attempt's intent is already recorded. */
type Task =
  | { readonly kind: 'run'; readonly tool: Tool; readonly started: boolean; readonly spawn?: SpawnedRun }
  | { readonly kind: 'end'; readonly outcome: ToolOutcome; readonly text: string }
  | { readonly kind: 'ask'; readonly question: Question }
  /** The program that asks runs it. */
  | { readonly kind: 'client' };

/**
 * Finishes the calls of the last step. Allowed calls run, several at a time, and each result is recorded as it comes, or with the step that uses
 * it if its tool only reads. When only calls that need an approval are left, the first one is asked about, which ends this attempt. Resolves to
 * false if nothing moved.
 */
export const finishCalls = async (attempt: Attempt, turn: ActiveTurn, turnContext: TurnContext): Promise<boolean> => {
  const tasks: { callId: string; task: Task }[] = [];
  for (const call of turn.calls) {
    if (isOpen(attempt, call)) tasks.push({ callId: call.callId, task: await taskOf(attempt, turnContext, call) });
  }
  const ready = tasks.filter(({ task }) => task.kind !== 'ask' && task.kind !== 'client');
  if (ready.length === 0) {
    await attempt.held.record();
    const asked = tasks.find(({ task }) => task.kind === 'ask');
    return asked ? ask(attempt, turnContext, asked) : awaitResults(attempt);
  }

  const next = ready.values();
  let recorded = 0;
  const workers = Array.from({ length: limits.stepCallsAtOnce }, async () => {
    for (const { callId, task } of next) if (await finish(attempt, turnContext, callId, task)) recorded++;
  });
  await Promise.all(workers);
  return recorded === ready.length;
};

/** True for a call that must still be run, or decided. */
export const isOpen = ({ held }: Attempt, { callId, status }: CallState): boolean => status !== 'done' && !held.has(callId);

const ask = async (attempt: Attempt, turnContext: TurnContext, asked: { callId: string; task: Task }): Promise<boolean> => {
  if (asked.task.kind !== 'ask') return false;
  const { callId, task } = asked;
  const { tool } = writtenCall(turnContext, callId);
  const { request, notices } = task.question;
  const question = { ...request, ...(notices && { notices }) };
  const outcome = await attempt.record({ type: 'request_approval', turn: attempt.ref, callId, tool, ...question });
  return outcome.kind === 'accepted';
};

/** Only calls of the program's own tools are left: this ends the attempt. */
const awaitResults = async (attempt: Attempt): Promise<boolean> => {
  if (!attempt.services.safetyToggles.recordedWaits) return false;
  const { expiresAt } = handedOver(attempt);
  return (await attempt.record({ type: 'await_results', turn: attempt.ref, expiresAt })).kind === 'accepted';
};

const taskOf = async (attempt: Attempt, turnContext: TurnContext, call: CallState): Promise<Task> => {
  if (call.client) return { kind: 'client' };
  if (call.status === 'pending') return pendingTask(attempt, turnContext, call.callId);
  const isOurs = call.attempt === attempt.ref.attempt || !attempt.services.safetyToggles.intents;
  return isOurs ? startedTask(attempt, turnContext, call.callId) : lostTask(attempt, turnContext, call.callId);
};

/** A call without a decision, or one that had to wait for others. */
const pendingTask = (attempt: Attempt, turnContext: TurnContext, callId: string): Task => {
  const written = writtenCall(turnContext, callId);
  const decision = toolPolicyDecisionOf(attempt, turnContext, written, turnContext.view.flushing);
  if (decision.kind === 'client') return decision;
  if (decision.kind === 'ask') return { kind: 'ask', question: decision };
  if (decision.kind === 'deny') return { kind: 'end', outcome: decision.invalid ? 'error' : 'denied', text: decision.reason };
  const tool = toolOf(turnContext, written.tool);
  return tool ? { ...decision, tool, started: false } : gone;
};

const startedTask = async (attempt: Attempt, turnContext: TurnContext, callId: string): Promise<Task> => {
  const written = writtenCall(turnContext, callId);
  const tool = toolOf(turnContext, written.tool);
  if (tool === undefined) return gone;
  const isAllowed = !attempt.granted.has(callId) || (await grantOf(attempt, written)) === 'bound';
  return isAllowed ? { kind: 'run', tool, started: true } : unlikeApproved;
};

/**
 * A call that was interrupted with its attempt: whether it took effect is unknown. An idempotent call is repeated under the same key; any other
 * only when a person says so (I6).
 */
const lostTask = async (attempt: Attempt, turnContext: TurnContext, callId: string): Promise<Task> => {
  const written = writtenCall(turnContext, callId);
  const tool = toolOf(turnContext, written.tool);
  if (tool?.idempotent) {
    return (await grantOf(attempt, written)) === 'other' ? unlikeApproved : { kind: 'run', tool, started: false };
  }
  const question = turnContext.view.flushing ? null : retryQuestion(attempt, turnContext, written);
  return question
    ? { kind: 'ask', question }
    : {
        kind: 'end',
        outcome: 'unknown',
        text: 'The call was interrupted; whether it took effect is unknown. It was not repeated.',
      };
};

const unlikeApproved: Task = {
  kind: 'end',
  outcome: 'error',
  text: 'What was approved is not this call with these arguments; the call was not made.',
};
const gone: Task = { kind: 'end', outcome: 'error', text: 'The tool no longer exists; the call was not made.' };

/** True once the end of the call is recorded, or held. */
const finish = async (attempt: Attempt, turnContext: TurnContext, callId: string, task: Task): Promise<boolean> => {
  const turn = attempt.ref;
  if (task.kind === 'ask' || task.kind === 'client' || attempt.signal.aborted) return false;
  if (task.kind === 'end') return recordEnd(attempt, callId, task);
  const parsed = parseArguments(writtenCall(turnContext, callId).arguments);
  if ('problem' in parsed) return recordEnd(attempt, callId, { outcome: 'error', text: parsed.problem });
  if (!task.started) {
    const intent = await attempt.record({ type: 'start_call', turn, callId, ...(task.spawn && { spawn: task.spawn }) });
    if (intent.kind !== 'accepted') return false;
  }
  const { clock, config, hideSecrets } = attempt.services;
  const run = { callId, arguments: parsed.value, scope: turnContext.scope };
  const { timeoutMs = config.tools.timeoutMs } = task.tool;
  const end = await attempt.during(runTool(task.tool, run, { clock, timeoutMs, signal: attempt.signal }));
  const text = hideSecrets?.(end.text) ?? end.text;
  const isHeld = task.tool.readsOnly && !end.memory && attempt.held.add({ callId, outcome: end.outcome, text });
  return isHeld || recordEnd(attempt, callId, { ...end, text });
};

interface End extends Pick<ToolEnd, 'memory'> {
  readonly outcome: ToolOutcome;
  readonly text: string;
}
const recordEnd = async (attempt: Attempt, callId: string, { outcome, text, memory }: End): Promise<boolean> => {
  const command = { type: 'record_result', turn: attempt.ref, callId } as const;
  const recorded = await attempt.record({ ...command, outcome, text, ...(memory && { memory }) });
  if (recorded.kind !== 'refused') return recorded.kind === 'accepted';
  const why = `The call ended, and its result could not be recorded: ${recorded.message}`.slice(0, 2_000);
  return (await attempt.record({ ...command, outcome: 'error', text: why })).kind === 'accepted';
};
