import {
  boundedSummary,
  type CompactionPlan,
  compactionPrompt,
  planCompaction,
  summaryTokens,
} from '../../../shared/domain/prompt/compaction.ts';
import { flushPrompt, summaryMessage } from '../../../shared/domain/prompt/conversation-message.ts';
import { contextTokens, messagesTokens, nextStepTokens, roomTokens } from '../../../shared/domain/prompt/tokens.ts';
import type { CommandOf } from '../../../shared/domain/session/commands.ts';
import type { ActiveTurn } from '../../../shared/domain/session/context.ts';
import type { StepOutcome } from '../../../shared/domain/values/types.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Model } from '../../../shared/ports/model.ts';
import { clientToolsOf } from '../prompt/client-tools.ts';
import type { SystemPrompt } from '../prompt/system-prompt.ts';
import { writeFileName } from '../tools/files.ts';
import { memoryAddName } from '../tools/memory-change.ts';
import type { Attempt } from './attempt.ts';
import { askModel } from './model-step.ts';
import type { TurnContext } from './turn-context.ts';

/** Keeps the conversation within the model's context window: compaction, and the notes saved before it (A7/85, A11/126). */

/** The turn's context with what one step needs besides: the system prompt and the model. */
export interface StepContext extends TurnContext {
  readonly prompt: SystemPrompt;
  readonly model: Model;
}

/** Tokens that the next step may use (`available`) and would use (`needed`). */
const measureOf = ({ services: { config } }: Attempt, { view, tools, prompt, model }: StepContext) => ({
  available: roomTokens({ windowTokens: model.windowTokens, reserveTokens: config.context.reserveTokens }),
  needed: nextStepTokens(view, { system: prompt.text, tools: [...tools, ...clientToolsOf(view)] }).tokens,
});

/** Why to compact: the step would be too large, the provider rejected it as too large, or a person asked. */
export type CompactionCause = 'full' | 'overflow' | 'asked';

/**
 * What a compaction would summarize; `null`: nothing. After an overflow our count was wrong, so most of the conversation must go. A part no
 * longer than its summary is not worth compacting before a step: it would be compacted again before the next.
 */
const planOf = (attempt: Attempt, turnContext: StepContext, cause: CompactionCause): CompactionPlan | null => {
  const { available, needed } = measureOf(attempt, turnContext);
  const { keepTokens } = attempt.services.config.context;
  const keep = Math.min(keepTokens, available / 2, cause === 'overflow' ? needed / 4 : available);
  const plan = planCompaction(turnContext.view, { turnId: attempt.ref.id, keepTokens: Math.floor(keep), roomTokens: available });
  return plan === null || (cause === 'full' && messagesTokens(plan.older) <= summaryTokens(available)) ? null : plan;
};

/** True when the next step would leave too little of the window for its answer, and a compaction would help. */
export const isWindowFull = (attempt: Attempt, turnContext: StepContext): boolean => {
  const { available, needed } = measureOf(attempt, turnContext);
  return needed > available && planOf(attempt, turnContext, 'full') !== null;
};

/** True when the model may save notes before this compaction: once, and only where it has a way to (A7/85). */
export const mayFlush = ({ services: { config } }: Attempt, { view, tools }: TurnContext): boolean => {
  const canWrite = tools.some(({ name }) => name === writeFileName);
  const canRemember = tools.some(({ name, usual }) => name === memoryAddName && usual === 'allow');
  return config.context.memoryFlush && (canWrite || canRemember) && view.flush.length === 0;
};

/** True while the flush continues: its last step called tools, and it is below its limit of steps. A compaction ends it. */
export const isFlushing = ({ view: { flush, flushing } }: TurnContext): boolean => {
  const steps = flush.filter(({ role }) => role === 'assistant').length;
  return flushing && steps > 0 && steps < limits.flushSteps;
};

/** One step of the flush. Its text is not shown to anyone. */
export const flushStep = (attempt: Attempt, { step }: ActiveTurn, turnContext: StepContext): Promise<StepOutcome> => {
  const { view, tools, prompt, model } = turnContext;
  const said = view.said.map(({ message }) => message);
  const flush = view.flush.length === 0 ? [flushPrompt] : view.flush;
  const messages = [...said, ...flush];
  return askModel(attempt, model, { step, system: prompt.text, messages, tools, prompt: flushPrompt.text, purpose: 'flush' });
};

type CompactionResult = CommandOf<'record_compaction'>['result'];

/** Summarizes the conversation before the latest messages. A failure of the model is an outcome, not an exception. */
export const compaction = async (
  attempt: Attempt,
  { step, task }: ActiveTurn,
  turnContext: StepContext,
  cause: CompactionCause,
): Promise<CompactionResult | (StepOutcome & { kind: 'failed' })> => {
  const { tools, prompt, model } = turnContext;
  const { available, needed: tokensBefore } = measureOf(attempt, turnContext);
  const plan = planOf(attempt, turnContext, cause);
  if (plan === null) return { kind: 'nothing', reason: 'there is nothing to summarize yet' };

  const request = compactionPrompt(plan.older, { instructions: task?.instructions, roomTokens: available });
  const outcome = await askModel(attempt, model, { step, ...request });
  if (outcome.kind === 'failed') return outcome;
  const summary = boundedSummary(outcome.text, available);
  if (summary === '')
    return { kind: 'failed', code: 'model_error', message: 'the model returned no summary of the conversation' };
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
