import type { ModelRequest } from '../domain/prompt/model-request.ts';
import type { StepOutcome } from '../domain/values/types.ts';

export interface Model {
  readonly name: string;
  /** Its context window in tokens. */
  readonly windowTokens: number;
  /** True for the media types of files that it can be given. Absent: it takes none. */
  takes?(type: string): boolean;
  /**
   * Runs one step and calls `onText` with each piece of text. Rejects only when `signal` aborts: a provider's error is an
   * outcome.
   */
  step(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<StepOutcome>;
  /**
   * Present on a model that can answer from the request alone, without effects; `null` when it cannot. Such a turn is one commit
   * (ADR 3): it has no effect that could run twice.
   */
  instantly?(request: Pick<ModelRequest, 'prompt' | 'step'>): StepOutcome | null;
}
