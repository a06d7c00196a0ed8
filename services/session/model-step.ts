import type { ModelRequest } from '../../shared/domain/prompt/model-request.ts';
import type { StepOutcome } from '../../shared/domain/values/types.ts';
import { errorMessage } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { Attempt } from './attempt.ts';

/** A request as far as it is not the same in all steps of an attempt. */
export type Asking = Omit<ModelRequest, 'key' | 'turn' | 'thinkingLevel'>;

/**
 * One step of a model, its text told live as it comes unless the step has a purpose of its own. A model that throws, or says too much, has
 * failed; the turn says so.
 */
export const askModel = async (attempt: Attempt, model: Model, asking: Asking): Promise<StepOutcome> => {
  const { key, ref, services, signal, state } = attempt;
  const { thinkingLevel } = state.machine.context.settings;
  const request: ModelRequest = { key, turn: ref, ...asking, ...(thinkingLevel !== undefined && { thinkingLevel }) };
  let offset = 0;
  const onText = (text: string): void => {
    if (signal.aborted) return;
    attempt.progressed();
    if (asking.purpose !== undefined) return;
    services.live.publish(key, { turn: ref, step: asking.step, offset, text });
    offset += text.length;
  };
  try {
    signal.throwIfAborted();
    return bounded(await model.step(request, onText, signal));
  } catch (error) {
    return { kind: 'failed', code: 'model_error', message: errorMessage(error).slice(0, 2_000) };
  }
};

const bounded = (outcome: StepOutcome): StepOutcome => {
  if (outcome.kind === 'failed') return outcome;
  const { modelOutputBytes, stepCalls } = limits;
  if (Buffer.byteLength(outcome.text) > modelOutputBytes) {
    return { kind: 'failed', code: 'output_too_large', message: `the model answered more than ${modelOutputBytes} bytes` };
  }
  if (outcome.kind === 'continue' && (outcome.calls?.length ?? 0) > stepCalls) {
    return { kind: 'failed', code: 'model_error', message: `the model made more than ${stepCalls} calls in one step` };
  }
  return outcome;
};
