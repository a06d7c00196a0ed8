import type { Usage } from '../../session/types.ts';

/** Tokens where the provider counts none: a fourth of the characters, marked as an estimate. */
export const estimateUsage = (input: string, output: string): Usage => {
  const inputTokens = Math.ceil(input.length / 4);
  const outputTokens = Math.ceil(output.length / 4);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
};
