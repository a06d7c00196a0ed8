/** Texts, or lists of the model's own tokens, as vectors, by a model of a configured provider. */
export interface Embeddings {
  /**
   * One vector for each input, in their order. `model`: `provider/model`, or a model of the provider of `agent.model`. Throws
   * `NatterError`: `not_found` for a provider that is not configured, `unsupported` where there is none that embeds, `invalid` for what the
   * provider refuses, `overloaded` and `unavailable` where a later call may succeed.
   */
  embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddedInputs>;
}

/** A text, or its tokens as the model numbers them. */
export type EmbeddingInput = string | readonly number[];

export interface EmbeddingRequest {
  readonly model: string;
  readonly inputs: readonly EmbeddingInput[];
  /** The length of the vectors. Default: the model's own. */
  readonly dimensions?: number | undefined;
}

export interface EmbeddedInputs {
  readonly vectors: readonly (readonly number[])[];
  /** 0: the provider did not count them. */
  readonly inputTokens: number;
}
