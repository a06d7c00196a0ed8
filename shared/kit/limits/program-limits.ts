/** Bounds of what programs bring and ask for by the interfaces of model providers (I11); a part of `limits`. */
export const programLimits = {
  /** Characters of the description of a tool that a program brings, and of a JSON schema. */
  clientToolDescriptionCharacters: 8_192,
  clientSchemaCharacters: 64 * 1024,
  /** Characters of a program's own id of a message. */
  clientIdCharacters: 256,
  /** Pairs of metadata that programs keep with a session. */
  metadataPairs: 16,
  /** How long a session may last that was not to be stored, where its client never took the answer. */
  unstoredSessionMs: 86_400_000,
  /** Texts or lists of tokens of one call for embeddings, as many as OpenAI takes; and tokens of one list. */
  embeddedInputs: 2_048,
  embeddedTokens: 65_536,
  /** Tokens that a program makes more or less likely. */
  biasedTokens: 1_024,
  /** UTF-8 bytes that are kept of what a model thinks in one step, signatures included. */
  reasoningBytes: 128 * 1024,
} as const;
