import type { ActiveTurn, CallState } from '../../shared/domain/session/context.ts';
import type { SpawnedRun, ToolOutcome } from '../../shared/domain/values/types.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Tool, ToolEnd } from '../../shared/ports/tools.ts';
import type { Attempt } from './attempt.ts';
import { parseArguments } from './call-hash.ts';
import { grantOf } from './grants.ts';
import { type Question, retryQuestion, rulingOf } from './rulings.ts';
import { type Scene, toolOf, writtenCall } from './scene.ts';
import { runTool } from './tool-run.ts';

/** What is to be done about a call that has not ended. `begun`: this attempt's intent is recorded. */
type Task =
  | { readonly kind: 'run'; readonly tool: Tool; readonly begun: boolean; readonly spawn?: SpawnedRun }
  | { readonly kind: 'end'; readonly outcome: ToolOutcome; readonly text: string }
  | { readonly kind: 'ask'; readonly question: Question };

/**
 * Brings the calls of the last step to their ends: what may run runs, several at a time, and each result is recorded as it comes; when
 * nothing is left but what a person must allow, the first question is asked, and with it this attempt is over. False: nothing was recorded.
 */
export const finishCalls = async (attempt: Attempt, turn: ActiveTurn, scene: Scene): Promise<boolean> => {
  const tasks: { callId: string; task: Task }[] = [];
  for (const call of turn.calls) {
    if (call.status !== 'done') tasks.push({ callId: call.callId, task: await taskOf(attempt, scene, call) });
  }
  const ready = tasks.filter(({ task }) => task.kind !== 'ask');
  if (ready.length === 0) return ask(attempt, scene, tasks[0]);

  const next = ready.values();
  let recorded = 0;
  const workers = Array.from({ length: limits.stepCallsAtOnce }, async () => {
    for (const { callId, task } of next) if (await finish(attempt, scene, callId, task)) recorded++;
  });
  await Promise.all(workers);
  return recorded === ready.length;
};

const ask = async (attempt: Attempt, scene: Scene, asked: { callId: string; task: Task } | undefined): Promise<boolean> => {
  if (asked?.task.kind !== 'ask') return false;
  const { callId, task } = asked;
  const { tool } = writtenCall(scene, callId);
  const outcome = await attempt.record({ type: 'request_approval', turn: attempt.ref, callId, tool, ...task.question });
  return outcome.kind === 'accepted';
};

const taskOf = async (attempt: Attempt, scene: Scene, call: CallState): Promise<Task> => {
  if (call.status === 'pending') return pendingTask(attempt, scene, call.callId);
  const isOurs = call.attempt === attempt.ref.attempt || !attempt.services.switches.intents;
  return isOurs ? begunTask(attempt, scene, call.callId) : lostTask(attempt, scene, call.callId);
};

/** Nobody has said anything about it yet, or it had to wait for others. */
const pendingTask = (attempt: Attempt, scene: Scene, callId: string): Task => {
  const written = writtenCall(scene, callId);
  const ruling = rulingOf(attempt, scene, written, scene.view.flushing);
  if (ruling.kind === 'ask') return { kind: 'ask', question: ruling.request };
  if (ruling.kind === 'deny') return { kind: 'end', outcome: ruling.invalid ? 'error' : 'denied', text: ruling.reason };
  const tool = toolOf(scene, written.tool);
  return tool ? { ...ruling, tool, begun: false } : gone;
};

const begunTask = async (attempt: Attempt, scene: Scene, callId: string): Promise<Task> => {
  const written = writtenCall(scene, callId);
  const tool = toolOf(scene, written.tool);
  if (tool === undefined) return gone;
  const isAllowed = !attempt.granted.has(callId) || (await grantOf(attempt, written)) === 'bound';
  return isAllowed ? { kind: 'run', tool, begun: true } : unlikeApproved;
};

/**
 * Whoever ran it is gone, and nobody knows whether it took effect. It is made once more under the same key if that has no further effect,
 * else only when a person says so (I6).
 */
const lostTask = async (attempt: Attempt, scene: Scene, callId: string): Promise<Task> => {
  const written = writtenCall(scene, callId);
  const tool = toolOf(scene, written.tool);
  if (tool?.idempotent) {
    return (await grantOf(attempt, written)) === 'other' ? unlikeApproved : { kind: 'run', tool, begun: false };
  }
  const question = scene.view.flushing ? null : retryQuestion(attempt, scene, written);
  return question
    ? { kind: 'ask', question }
    : {
        kind: 'end',
        outcome: 'unknown',
        text: 'The call was cut off; whether it took effect is not known. It was not repeated.',
      };
};

const unlikeApproved: Task = {
  kind: 'end',
  outcome: 'error',
  text: 'What was approved is not this call with these arguments; it was not made.',
};
const gone: Task = { kind: 'end', outcome: 'error', text: 'The tool is not there any more; the call was not made.' };

/** True once the end of the call is recorded. */
const finish = async (attempt: Attempt, scene: Scene, callId: string, task: Task): Promise<boolean> => {
  const turn = attempt.ref;
  if (task.kind === 'ask' || attempt.signal.aborted) return false;
  if (task.kind === 'end') return recordEnd(attempt, callId, task);
  const parsed = parseArguments(writtenCall(scene, callId).arguments);
  if ('problem' in parsed) return recordEnd(attempt, callId, { outcome: 'error', text: parsed.problem });
  if (!task.begun) {
    const started = await attempt.record({ type: 'start_call', turn, callId, ...(task.spawn && { spawn: task.spawn }) });
    if (started.kind !== 'accepted') return false;
  }
  const { clock, config } = attempt.services;
  const run = { callId, arguments: parsed.value, scope: scene.scope };
  const { timeoutMs = config.tools.timeoutMs } = task.tool;
  const end = await attempt.during(runTool(task.tool, run, { clock, timeoutMs, signal: attempt.signal }));
  return recordEnd(attempt, callId, end);
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
