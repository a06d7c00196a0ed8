import { outcomeOf, readAnswer } from '../../../shared/domain/introspection/answer.ts';
import { withLines } from '../../../shared/domain/introspection/basis.ts';
import type { Entry } from '../../../shared/domain/introspection/entry.ts';
import { introspectionPrompt, type Notes, type ShownMemory } from '../../../shared/domain/introspection/prompt.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { shortened } from '../../../shared/domain/prompt/compaction.ts';
import type { ModelMessage } from '../../../shared/domain/prompt/model-request.ts';
import type { CommandOf } from '../../../shared/domain/session/commands.ts';
import type { MemoryScope } from '../../../shared/domain/values/memory-edit.ts';
import type { StepOutcome, Usage } from '../../../shared/domain/values/types.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Model } from '../../../shared/ports/model.ts';

/** The result of an introspection, as it is recorded. */
export type IntrospectionResult = CommandOf<'record_introspection'>['result'];

export interface IntrospectionRequest {
  readonly model: Model;
  readonly key: SessionKey;
  /** The id of the introspection, for the model's turn reference. */
  readonly id: string;
  readonly notes: Notes;
  readonly entries: readonly Entry[];
  /** The memories that may be updated or forgotten, and the scopes that may be written; empty: nothing is remembered. */
  readonly memories: readonly ShownMemory[];
  readonly reach: readonly MemoryScope[];
  readonly signal: AbortSignal;
  /** Called before the model is asked again after an invalid answer. */
  again(): void;
}

/** Characters of an invalid answer that the model is shown. */
const shownAgain = 4_000;
const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/**
 * Asks the model until its answer is valid, at most `limits.introspectionAnswers` times; after an invalid answer it is told the
 * problem. A valid answer counts as a whole, an invalid one not at all (A7/82). Without entries the model is not called.
 */
export const introspect = async (request: IntrospectionRequest): Promise<IntrospectionResult> => {
  const { model, notes, entries, memories, reach } = request;
  if (entries.length === 0) return { kind: 'done', model: model.name, usage: noUsage };
  const lines = withLines(entries, reach);
  const remembers = reach.length > 0 && lines.some(({ line }) => line !== undefined);
  const { system, prompt } = introspectionPrompt({ notes, entries: lines, memories, remembers });
  const messages: ModelMessage[] = [{ role: 'user', text: prompt }];
  let usage = noUsage;
  let problem = '';
  for (let step = 1; step <= limits.introspectionAnswers; step++) {
    if (step > 1) request.again();
    const outcome = await ask(request, { step, system, prompt, messages });
    if (outcome.kind === 'failed') return outcome;
    usage = sum(usage, outcome.usage);
    const read = readAnswer(outcome.text, { memories, lines });
    if ('answer' in read) {
      return { kind: 'done', ...outcomeOf(read.answer, memories, reach), model: outcome.model, usage };
    }
    problem = read.problem;
    messages.push(
      { role: 'assistant', text: shortened(outcome.text, shownAgain) },
      { role: 'user', text: `That cannot be used: ${problem}. Answer again, with the JSON object alone.` },
    );
  }
  const message = `no valid answer in ${limits.introspectionAnswers} attempts; the last problem: ${problem}`
    .slice(0, 2_000)
    .toWellFormed();
  return { kind: 'failed', code: 'model_invalid_answer', message };
};

type Step = { readonly step: number; readonly system: string; readonly prompt: string; readonly messages: ModelMessage[] };

/** A model that throws has failed, unless it was aborted: then its output does not count. */
const ask = async ({ model, key, id, signal }: IntrospectionRequest, step: Step): Promise<StepOutcome> => {
  const request = { key, turn: { id, attempt: 1 }, tools: [], purpose: 'introspection', ...step } as const;
  try {
    const outcome = await model.step({ ...request, messages: [...step.messages] }, () => {}, signal);
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'failed', code: 'model_error', message: errorMessage(error).slice(0, 2_000) };
  }
};

const sum = (one: Usage, other: Usage): Usage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  totalTokens: one.totalTokens + other.totalTokens,
  ...((one.estimated || other.estimated) && { estimated: true }),
  ...((one.costUsd ?? other.costUsd) !== undefined && { costUsd: (one.costUsd ?? 0) + (other.costUsd ?? 0) }),
});
