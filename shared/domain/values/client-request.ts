import { z } from 'zod';
import { limits } from '../../kit/limits.ts';

/**
 * What the program that sends a message asks of the model besides: tools of its own, and settings. It counts for the turn of that message, until
 * the program gives the results of its tools with another such request.
 */

/** A tool that the program runs itself. `parameters` is the text of a JSON schema of an object. */
export const clientTool = z.object({
  name: z.string().regex(/^[\w-]{1,64}$/),
  description: z.string().max(limits.clientToolDescriptionCharacters).optional(),
  parameters: z.string().max(limits.clientSchemaCharacters),
  /** The model's provider makes arguments fit the schema, or does not. */
  strict: z.boolean().optional(),
});
export type ClientTool = z.infer<typeof clientTool>;

/** The form of the answer; `schema` is the text of a JSON schema. */
const answerFormat = z.object({
  kind: z.literal('json'),
  name: z.string().max(64).optional(),
  description: z.string().max(limits.clientToolDescriptionCharacters).optional(),
  schema: z.string().max(limits.clientSchemaCharacters).optional(),
  strict: z.boolean().optional(),
});

export const modelSettings = z.object({
  /** For the next step alone. `required`: it calls one of the program's tools. `none`: it does not see them. */
  toolChoice: z.union([z.enum(['none', 'required']), z.object({ tool: clientTool.shape.name })]).optional(),
  parallelCalls: z.boolean().optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  stop: z.array(z.string().min(1).max(256)).max(4).optional(),
  seed: z.int().optional(),
  /** By the number of a token, how much more or less likely it gets. */
  logitBias: z
    .record(z.string().regex(/^\d{1,9}$/, 'name tokens by their numbers'), z.number().min(-100).max(100))
    .refine((bias) => Object.keys(bias).length <= limits.biasedTokens, `use at most ${limits.biasedTokens} tokens`)
    .optional(),
  format: answerFormat.optional(),
  effort: z.string().min(1).max(32).optional(),
  /** The answer has what the model thought, as far as its provider tells. */
  showsReasoning: z.literal(true).optional(),
});
export type ModelSettings = z.infer<typeof modelSettings>;

export const clientRequest = modelSettings.extend({ tools: z.array(clientTool).max(limits.offeredTools).optional() });
export type ClientRequest = z.infer<typeof clientRequest>;

/** What a message has besides if a program sends it. */
export const programFields = {
  client: clientRequest.optional(),
  /** Stands for all that this program has said in the conversation up to here: its next call finds the session by it. */
  thread: z.string().min(1).max(64).optional(),
  /** What its program calls the message. */
  clientId: z.string().min(1).max(limits.clientIdCharacters).optional(),
};
