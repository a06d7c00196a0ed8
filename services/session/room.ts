import {
  boundedSummary,
  type CompactionPlan,
  compactionPrompt,
  planCompaction,
  summaryTokens,
} from '../../shared/domain/prompt/compaction.ts';
import { flushPrompt, summaryMessage } from '../../shared/domain/prompt/conversation-message.ts';
import { contextTokens, messagesTokens, nextStepTokens, roomTokens } from '../../shared/domain/prompt/tokens.ts';
import type { CommandOf } from '../../shared/domain/session/commands.ts';
import type { ActiveTurn } from '../../shared/domain/session/context.ts';
import type { StepOutcome } from '../../shared/domain/values/types.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { Attempt } from './attempt.ts';
import { askModel } from './model-step.ts';
import type { Scene } from './scene.ts';
import type { SystemPrompt } from './system-prompt.ts';
import { memoryAddName } from './tools/memory-change.ts';

/** Room in the model's window: compaction, and the notes that are written before it (A7/85, A11/126). */

/** The scene of a step, and the system prompt and the model that it has. */
export interface StepScene extends Scene {
  readonly prompt: SystemPrompt;
  readonly model: Model;
}

/** Tokens that the next step may have, and will have. */
const measureOf = ({ services: { config } }: Attempt, { view, tools, prompt, model }: StepScene) => ({
  room: roomTokens({ windowTokens: model.windowTokens, reserveTokens: config.context.reserveTokens }),
  tokens: nextStepTokens(view, { system: prompt.text, tools }).tokens,
});

/** Why there is a compaction: the step would be too large, the provider says that it is, or somebody asks for it. */
type Cause = 'tight' | 'overflow' | 'asked';

/**
 * What a compaction would summarise, `null` if nothing. Where the provider says that it is too much, whatever we have counted, most of it
 * must go. Before a step no more than a summary may take is not worth one: it would be made anew before each.
 */
const planOf = (attempt: Attempt, scene: StepScene, cause: Cause): CompactionPlan | null => {
  const { room, tokens } = measureOf(attempt, scene);
  const most = Math.min(attempt.services.config.context.keepTokens, room / 2, cause === 'overflow' ? tokens / 4 : room);
  const plan = planCompaction(scene.view, { turnId: attempt.ref.id, keepTokens: Math.floor(most), roomTokens: room });
  return plan === null || (cause === 'tight' && messagesTokens(plan.older) <= summaryTokens(room)) ? null : plan;
};

/** True when the next step would leave too little of the window for its answer, and a compaction would help. */
export const isTight = (attempt: Attempt, scene: StepScene): boolean => {
  const { room, tokens } = measureOf(attempt, scene);
  return tokens > room && planOf(attempt, scene, 'tight') !== null;
};

/** True when the model may save what it wants to remember before this compaction: once, and only where it can (A7/85). */
export const mayFlush = ({ services: { config } }: Attempt, { view, tools }: Scene): boolean => {
  const { workspace, workspaceAccess } = config.agent;
  const canWrite = workspace !== undefined && workspaceAccess === 'read-write';
  const canRemember = tools.some(({ name, usual }) => name === memoryAddName && usual === 'allow');
  return config.context.memoryFlush && (canWrite || canRemember) && view.flush.length === 0;
};

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

/** Summarises what was said before the latest messages. A failure of the model is an outcome of its own. */
export const compaction = async (
  attempt: Attempt,
  { step, task }: ActiveTurn,
  scene: StepScene,
  cause: Cause,
): Promise<CompactionResult | (StepOutcome & { kind: 'failed' })> => {
  const { tools, prompt, model } = scene;
  const { room, tokens: tokensBefore } = measureOf(attempt, scene);
  const plan = planOf(attempt, scene, cause);
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
