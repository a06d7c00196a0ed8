import { withFilesFor } from '../../../shared/domain/prompt/given-files.ts';
import type { ActiveTurn } from '../../../shared/domain/session/context.ts';
import { callIdOf } from '../../../shared/domain/session/decide/tools.ts';
import type { Ruling, StepOutcome } from '../../../shared/domain/values/types.ts';
import { assert } from '../../../shared/kit/assert.ts';
import { nameTaken, offeredToModel } from '../prompt/client-tools.ts';
import { pruned } from '../prompt/prune.ts';
import type { Attempt } from './attempt.ts';
import { finishCalls, isOpen } from './calls.ts';
import {
  type CompactionCause,
  compaction,
  flushStep,
  isFlushing,
  isWindowFull,
  mayFlush,
  type StepContext,
} from './context-window.ts';
import { askModel } from './model-step.ts';
import { dispatchStep } from './skill-call.ts';
import { toolPolicyDecisionOf } from './tool-policy-decisions.ts';
import { type TurnContext, turnContextOf, withSpawned } from './turn-context.ts';

/**
 * A turn is a loop over recorded facts: read where the turn stands in the log, make the next move, record it, and read again. So a turn
 * that lost its host continues where the log ends and repeats nothing (I6). Resolves when the attempt is over.
 */
export const runTurn = async (attempt: Attempt): Promise<void> => {
  for (let turn = attempt.turn(); turn !== null; turn = attempt.turn()) {
    const restMs = (turn.quietUntil ?? 0) - attempt.services.clock.now();
    const moved = restMs > 0 ? await rest(attempt, restMs) : await move(attempt, turn);
    assert(moved || attempt.turn() === null, `the turn moves on from step ${turn.step}`);
  }
};

/** Other messages may join the turn meanwhile and prolong the rest (B6). */
const rest = async (attempt: Attempt, restMs: number): Promise<boolean> => {
  attempt.progressed(restMs);
  await attempt.services.clock.sleep(restMs, attempt.signal);
  return true;
};

/** Makes one move. Resolves to false if the move recorded nothing. */
const move = async (attempt: Attempt, turn: ActiveTurn): Promise<boolean> => {
  const turnContext = await turnContextOf(attempt, turn);
  if (turn.calls.some((call) => isOpen(attempt, call))) return finishCalls(attempt, turn, turnContext);
  const prompt = await attempt.prompt(turnContext);
  const { model } = attempt;
  const said = withFilesFor(turnContext.view.said, (type) => model.takes?.(type) ?? false);
  const ready: StepContext = { ...turnContext, view: { ...turnContext.view, said }, prompt, model };
  return turn.task ? compactNow(attempt, turn, ready) : takeStep(attempt, turn, ready);
};

/** The only step of a turn that was started to compact (A11/126). */
const compactNow = async (attempt: Attempt, turn: ActiveTurn, turnContext: StepContext): Promise<boolean> => {
  const result = await compaction(attempt, turn, turnContext, 'asked');
  if (result.kind === 'failed') return recordStep(attempt, turn, turnContext, result);
  return isAccepted(await attempt.record({ type: 'record_compaction', turn: attempt.ref, result }));
};

const takeStep = async (attempt: Attempt, turn: ActiveTurn, turnContext: StepContext): Promise<boolean> => {
  const dispatched = dispatchStep(turn, turnContext.view, turnContext.called);
  if (dispatched) return recordStep(attempt, turn, turnContext, dispatched);
  const taken = nameTaken(turnContext);
  if (taken) return recordStep(attempt, turn, turnContext, taken);
  const isFull = attempt.compactedBeforeStep !== turn.step && isWindowFull(attempt, turnContext);
  const flushes = isFlushing(turnContext) || (isFull && mayFlush(attempt, turnContext));
  if ((flushes || isFull) && attempt.held.all.length > 0) return recordHeld(attempt);
  if (flushes && (await flush(attempt, turn, turnContext))) return true;
  if (isFull && (await compactOnce(attempt, turn, turnContext, 'full'))) return true;
  const outcome = await askModel(attempt, turnContext.model, stepRequestOf(attempt, turn, turnContext));
  const isOverflow = outcome.kind === 'failed' && outcome.code === 'context_overflow';
  if (isOverflow && attempt.held.all.length > 0) return recordHeld(attempt);
  if (isOverflow && (await compactOnce(attempt, turn, turnContext, 'overflow'))) return true;
  return recordStep(attempt, turn, turnContext, outcome);
};

/** What is summarised is in the log. */
const recordHeld = async (attempt: Attempt): Promise<boolean> => {
  await attempt.held.record();
  return true;
};

const stepRequestOf = ({ services: { config } }: Attempt, { step }: ActiveTurn, { view, tools, prompt, model }: StepContext) => {
  const said = view.said.map(({ message }) => message);
  const messages = config.context.pruneToolResults ? pruned(said, model) : said;
  return { step, system: prompt.text, messages, prompt: view.prompt, ...offeredToModel(view, tools) };
};

/** Lets the model save notes before a compaction (A7/85). They are optional: if the step fails, the turn continues without them. */
const flush = async (attempt: Attempt, turn: ActiveTurn, turnContext: StepContext): Promise<boolean> => {
  const outcome = await flushStep(attempt, turn, turnContext);
  return outcome.kind !== 'failed' && recordStep(attempt, turn, turnContext, outcome, true);
};

/** Compacts once before each step: what does not fit after that will never fit (A11/126). */
const compactOnce = async (
  attempt: Attempt,
  turn: ActiveTurn,
  turnContext: StepContext,
  cause: CompactionCause,
): Promise<boolean> => {
  if (attempt.compactedBeforeStep === turn.step) return false;
  attempt.compactedBeforeStep = turn.step;
  const result = await compaction(attempt, turn, turnContext, cause);
  if (result.kind !== 'compacted') return false;
  return isAccepted(await attempt.record({ type: 'record_compaction', turn: attempt.ref, result }));
};

/**
 * Commits the step, the results that it used and the policy's decisions on its calls together: the intent is recorded before anything runs
 * (I6).
 */
const recordStep = async (
  attempt: Attempt,
  turn: ActiveTurn,
  turnContext: StepContext,
  outcome: StepOutcome,
  isFlush = false,
): Promise<boolean> => {
  const command = { type: 'record_step', turn: attempt.ref, step: turn.step } as const;
  const results = [...attempt.held.all];
  const recorded = await attempt.record({
    ...command,
    outcome,
    heard: turnContext.view.heard,
    rulings: toolPolicyDecisionsOf(attempt, turn, turnContext, outcome, isFlush),
    prompt: [...turnContext.prompt.parts],
    skills: [...turnContext.skills.refs],
    ...(isFlush && { flush: true }),
    ...(results.length > 0 && { results }),
  });
  if (recorded.kind === 'refused' && results.length > 0) {
    await attempt.held.record();
    return recordStep(attempt, turn, turnContext, outcome, isFlush);
  }
  attempt.held.drop(results);
  if (recorded.kind !== 'refused') return isAccepted(recorded);
  const { message } = recorded;
  return isAccepted(await attempt.record({ ...command, outcome: { kind: 'failed', code: 'output_too_large', message } }));
};

/** Decides in the order of the calls: a run that one call starts counts for the calls after it. */
const toolPolicyDecisionsOf = (
  attempt: Attempt,
  { id, step }: ActiveTurn,
  turnContext: TurnContext,
  outcome: StepOutcome,
  isSilent: boolean,
): Ruling[] => {
  const decisions: Ruling[] = [];
  for (const [index, call] of (outcome.kind === 'continue' ? (outcome.calls ?? []) : []).entries()) {
    const started = decisions.flatMap((decision) => (decision.kind === 'run' && decision.spawn ? [decision.spawn] : []));
    const named = { ...call, callId: callIdOf(id, step, index) };
    decisions.push(toolPolicyDecisionOf(attempt, withSpawned(turnContext, started), named, isSilent));
  }
  return decisions;
};

const isAccepted = ({ kind }: { readonly kind: string }): boolean => kind === 'accepted';
