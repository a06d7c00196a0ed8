import { z } from 'zod';
import { limits } from '../../shared/kit/limits.ts';
import { forgetMemory, listMemory, readMemory } from './memory-calls.ts';
import type { Call } from './rpc.ts';

/** The methods `memory.*` (A7/82). */

const id = z.string().min(1).max(limits.idCharacters);

export const memoryListParameters = z.strictObject({
  scope: z.string().min(1).max(2_048).optional(),
  query: z.string().min(1).max(limits.memoryQueryCharacters).optional(),
  limit: z
    .int()
    .min(1)
    .transform((count) => Math.min(count, limits.pageRows))
    .default(50),
  cursor: z.string().min(1).max(64).optional(),
});
export const memoryList = ({ context, asker }: Call, parameters: z.infer<typeof memoryListParameters>) =>
  listMemory(context, asker, parameters);

export const memoryGetParameters = z.strictObject({ id });
export const memoryGet = ({ context, asker }: Call, parameters: z.infer<typeof memoryGetParameters>) =>
  readMemory(context, asker, parameters.id);

export const memoryForgetParameters = z.strictObject({ id, reason: z.string().min(1).max(500).default('asked for') });
export const memoryForget = ({ context, asker }: Call, parameters: z.infer<typeof memoryForgetParameters>) =>
  forgetMemory(context, asker, parameters);
