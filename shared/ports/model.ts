import type { ModelRequest } from '../domain/prompt/model-request.ts';
import type { StepOutcome } from '../domain/values/types.ts';

export interface Model {
  readonly name: string;
  /** Tokens its window holds. */
  readonly windowTokens: number;
  /** One step. Calls `onText` with each piece as it comes. Never rejects but by `signal`: a provider's error is an outcome. */
  step(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome>;
  /**
   * Present on a model without effects that may answer at once from the request alone; `null` when it cannot. A turn that ends at once
   * is then one commit (ADR 3): there is no effect in it that could run twice.
   */
  instantly?(request: Pick<ModelRequest, 'prompt' | 'step'>): StepOutcome | null;
}
