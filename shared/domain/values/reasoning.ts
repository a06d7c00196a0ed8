import { z } from 'zod';

/**
 * A piece of what a model thought before it answered. With `signature` or `redacted` its provider wants it back unchanged with the calls that
 * followed it; `redacted` is all there is of a piece that nobody may read.
 */
export const reasoningPart = z.object({ text: z.string(), signature: z.string().optional(), redacted: z.string().optional() });
export type ReasoningPart = z.infer<typeof reasoningPart>;
/** What a step may have besides. `truncated`: it ended at the limit of its output tokens. `refused`: its text says that the model refuses. */
export const stepDetails = {
  reasoning: z.array(reasoningPart).optional(),
  truncated: z.literal(true).optional(),
  refused: z.literal(true).optional(),
};
