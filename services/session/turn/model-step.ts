import type { ModelRequest } from '../../../shared/domain/prompt/model-request.ts';
import type { StepOutcome } from '../../../shared/domain/values/types.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Attempt } from './attempt.ts';

/** The part of a request that differs between the steps of an attempt. */
export type StepRequest = Omit<ModelRequest, 'key' | 'turn' | 'thinkingLevel'>;

/**
 * Runs one step of a model and publishes its text live, unless the step has a special purpose. A model that throws or exceeds a limit is a
 * failed step.
 */
export const askModel = async (attempt: Attempt, model: Model, request: StepRequest): Promise<StepOutcome> => {
  const { key, ref, services, signal, state } = attempt;
  const { thinkingLevel } = state.machine.context.settings;
  const messages = await services.files.of(key, request.messages);
  const full: ModelRequest = { key, turn: ref, ...request, messages, ...(thinkingLevel !== undefined && { thinkingLevel }) };
  let offset = 0;
  const onText = (text: string): void => {
    if (signal.aborted) return;
    attempt.progressed();
    if (request.purpose !== undefined) return;
    services.live.publish(key, { turn: ref, step: request.step, offset, text });
    offset += text.length;
  };
  try {
    signal.throwIfAborted();
    return bounded(await model.step(full, onText, signal));
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
