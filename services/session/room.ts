import { boundedSummary, compactionPrompt, planCompaction } from '../../shared/context/compaction.ts';
import { flushPrompt, summaryMessage } from '../../shared/context/said.ts';
import { contextTokens, nextStepTokens, roomTokens } from '../../shared/context/tokens.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Model } from '../../shared/ports.ts';
import type { CommandOf } from '../../shared/session/commands.ts';
import type { ActiveTurn } from '../../shared/session/context.ts';
import type { StepOutcome } from '../../shared/session/types.ts';
import type { Attempt } from './attempt.ts';
import { askModel } from './model-step.ts';
import type { Scene } from './scene.ts';
import type { SystemPrompt } from './system-prompt.ts';

/** Room in the model's window: compaction, and the notes that are written before it (A7/85, A11/126). */

/** The scene of a step, and the system prompt and the model that it has. */
export interface StepScene extends Scene {
  readonly prompt: SystemPrompt;
  readonly model: Model;
}

/** True when the next step would leave too little of the window for its answer. */
export const isTight = ({ services: { config } }: Attempt, scene: StepScene): boolean => {
  const { view, tools, prompt, model } = scene;
  const { tokens } = nextStepTokens(view, { system: prompt.text, tools });
  return tokens > roomTokens({ windowTokens: model.windowTokens, reserveTokens: config.context.reserveTokens });
};

/** True when the model may write notes before this compaction: once, and only where it can write. */
export const mayFlush = ({ services: { config } }: Attempt, { view }: Scene): boolean =>
  config.context.memoryFlush &&
  config.agent.workspace !== undefined &&
  config.agent.workspaceAccess === 'read-write' &&
  view.flush.length === 0;

/** True while the flush goes on: its last step called tools, and it has not taken too many. A compaction ends it. */
export const isFlushing = ({ view: { flush, flushing } }: Scene): boolean => {
  const steps = flush.filter(({ role }) => role === 'assistant').length;
  return flushing && steps > 0 && steps < limits.flushSteps;
};

/** One step of the flush, which nobody sees. */
export const flushStep = (attempt: Attempt, { step }: ActiveTurn, scene: StepScene): Promise<StepOutcome> => {
  const { view, tools, prompt, model } = scene;
  const said = view.said.map(({ message }) => message);
  const flush = view.flush.length === 0 ? [flushPrompt] : view.flush;
  const messages = [...said, ...flush];
  return askModel(attempt, model, { step, system: prompt.text, messages, tools, prompt: flushPrompt.text, purpose: 'flush' });
};

type CompactionResult = CommandOf<'record_compaction'>['result'];

/**
 * Summarises what was said before the latest messages. A failure of the model is an outcome of its own. `isOverflow`: the provider says that
 * it is too much, whatever we have counted; most of it must go.
 */
export const compaction = async (
  attempt: Attempt,
  { step, task }: ActiveTurn,
  scene: StepScene,
  isOverflow = false,
): Promise<CompactionResult | (StepOutcome & { kind: 'failed' })> => {
  const { context } = attempt.services.config;
  const { view, tools, prompt, model } = scene;
  const room = roomTokens({ windowTokens: model.windowTokens, reserveTokens: context.reserveTokens });
  const tokensBefore = nextStepTokens(view, { system: prompt.text, tools }).tokens;
  const keepTokens = Math.floor(Math.min(context.keepTokens, room / 2, isOverflow ? tokensBefore / 4 : room));
  const plan = planCompaction(view, { turnId: attempt.ref.id, keepTokens, roomTokens: room });
  if (plan === null) return { kind: 'nothing', reason: 'there is nothing yet that a summary could stand for' };

  const request = compactionPrompt(plan.older, { instructions: task?.instructions, roomTokens: room });
  const outcome = await askModel(attempt, model, { step, ...request });
  if (outcome.kind === 'failed') return outcome;
  const summary = boundedSummary(outcome.text, room);
  if (summary === '') return { kind: 'failed', code: 'model_error', message: 'the model gave no summary of the conversation' };
  const messages = [summaryMessage(summary), ...plan.kept];
  return {
    kind: 'compacted',
    summary,
    throughRev: plan.throughRev,
    keptFromSeq: plan.keptFromSeq,
    tokensBefore,
    tokensAfter: contextTokens({ system: prompt.text, tools, messages }),
    model: outcome.model,
    usage: outcome.usage,
  };
};
