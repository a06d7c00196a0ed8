import { z } from 'zod';
import { limits } from '../../../../shared/kit/limits.ts';
import { ownersOnly } from '../../context/access.ts';
import type { Call } from '../../operation/operation.ts';
import { Failure } from './format/failure.ts';

/** `/v1/embeddings`: texts or lists of tokens as vectors, by a provider in the configuration. Nothing is recorded. */

const text = z.string().min(1, 'is empty; send some text');
const tokens = z.array(z.int().min(0)).min(1).max(limits.embeddedTokens);
export const embeddingsBody = z.object({
  model: z.string('name the model of the provider').min(1, 'name the model of the provider').max(256),
  input: z
    .union(
      [
        text,
        tokens,
        z
          .array(z.union([text, tokens]))
          .min(1)
          .max(limits.embeddedInputs, `use at most ${limits.embeddedInputs} texts`),
      ],
      'use a text, a list of tokens, or a list of those, none of them empty',
    )
    .meta({ description: 'a text, a list of tokens, or a list of those' }),
  encoding_format: z.enum(['float', 'base64'], 'use "float" or "base64"').nullish(),
  dimensions: z.int('use a whole number').min(1).max(65_536).nullish(),
  user: z.string('use a text').nullish(),
});

export const embedTexts = async ({ context, caller, signal }: Call, asked: z.infer<typeof embeddingsBody>) => {
  ownersOnly(caller.principal, 'embedding texts');
  const { model, input, encoding_format: format, dimensions } = asked;
  if (context.embeddings === undefined)
    throw new Failure(400, 'unsupported_parameter', 'model: this gateway has no provider that could embed texts', 'model');
  const inputs = typeof input === 'string' || isTokens(input) ? [input] : input;
  const { vectors, inputTokens } = await context.embeddings.embed({ model, inputs, dimensions: dimensions ?? undefined }, signal);
  const shown = (vector: readonly number[]) => (format === 'base64' ? base64Of(vector) : vector);
  return {
    object: 'list' as const,
    data: vectors.map((vector, index) => ({ object: 'embedding' as const, index, embedding: shown(vector) })),
    model,
    usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
  };
};

const isTokens = (input: readonly unknown[]): input is number[] => typeof input[0] === 'number';

/** 32-bit numbers, little-endian, as OpenAI's clients read them. */
const base64Of = (vector: readonly number[]): string => {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
};
