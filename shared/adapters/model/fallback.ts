import type { ModelRequest } from '../../domain/prompt/model-request.ts';
import type { StepOutcome } from '../../domain/values/types.ts';
import type { Model } from '../../ports/model.ts';

/** Failures of the provider, not of the request: another model may succeed. */
const providerFailures = new Set(['model_auth', 'model_rate_limited', 'model_unavailable', 'model_timeout']);

/**
 * Tries models in order until one answers (`agent.fallbacks`). Once a model has produced text no other is tried, because people
 * have seen it. The outcome names the model that answered; if all fail, it has the code of the first failure and all messages.
 */
export class FallbackModel implements Model {
  readonly name: string;
  /** The smallest of all: what fits it fits every model. */
  readonly windowTokens: number;
  readonly #models: readonly [Model, ...Model[]];

  constructor(models: readonly [Model, ...Model[]]) {
    this.name = models[0].name;
    this.windowTokens = Math.min(...models.map(({ windowTokens }) => windowTokens));
    this.#models = models;
  }

  /** What at least one of them takes; a model that does not take it is told what it misses. */
  takes(type: string): boolean {
    return this.#models.some((model) => model.takes?.(type));
  }

  async step(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome> {
    let hasText = false;
    const emitText = (text: string): void => {
      hasText = true;
      onText(text);
    };
    const failures: { code: string; message: string }[] = [];
    for (const model of this.#models) {
      const outcome = await model.step(request, emitText, signal);
      if (outcome.kind !== 'failed') return outcome;
      failures.push({ code: outcome.code, message: `${model.name}: ${outcome.message}` });
      if (hasText || signal.aborted || !providerFailures.has(outcome.code)) break;
    }
    const message = failures.map((failure) => failure.message).join('; ');
    return { kind: 'failed', code: failures[0]?.code ?? 'model_error', message: message.slice(0, 2_000) };
  }
}
