/** Texts as vectors, by a model of a configured provider. */
export interface Embeddings {
  /**
   * One vector for each text, in their order. `model`: `provider/model`, or a model of the provider of `agent.model`. Throws
   * `NatterError`: `not_found` for a provider that is not configured, `unsupported` where there is none that embeds, `invalid` for what the
   * provider refuses, `overloaded` and `unavailable` where a later call may succeed.
   */
  embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddedTexts>;
}

export interface EmbeddingRequest {
  readonly model: string;
  readonly texts: readonly string[];
  /** The length of the vectors. Default: the model's own. */
  readonly dimensions?: number | undefined;
}

export interface EmbeddedTexts {
  readonly vectors: readonly (readonly number[])[];
  /** 0: the provider did not count them. */
  readonly inputTokens: number;
}
