import { z } from 'zod';
import { limits } from '../../../../shared/kit/limits.ts';
import { ownersOnly } from '../../context/access.ts';
import type { Call } from '../../operation/operation.ts';
import { Failure } from './format/failure.ts';

/** `/v1/embeddings`: texts as vectors, by a provider in the configuration. Nothing is recorded. */

const text = z.string('use a text').min(1, 'is empty; send some text');
export const embeddingsBody = z.object({
  model: z.string('name the model of the provider').min(1, 'name the model of the provider').max(256),
  input: z
    .preprocess(
      (input) => (typeof input === 'string' ? [input] : input),
      z
        .array(text, 'use a text or a list of texts')
        .min(1, 'is empty; send at least one text')
        .max(limits.embeddedTexts, `use at most ${limits.embeddedTexts} texts`),
    )
    .meta({ description: 'a text, or a list of texts; lists of tokens are not taken', type: ['string', 'array'] }),
  encoding_format: z.enum(['float', 'base64'], 'use "float" or "base64"').nullish(),
  dimensions: z.int('use a whole number').min(1).max(65_536).nullish(),
  user: z.string('use a text').nullish(),
});

export const embedTexts = async ({ context, caller, signal }: Call, asked: z.infer<typeof embeddingsBody>) => {
  ownersOnly(caller.principal, 'embedding texts');
  const { model, input: texts, encoding_format: format, dimensions } = asked;
  if (context.embeddings === undefined)
    throw new Failure(400, 'unsupported_parameter', 'model: this gateway has no provider that could embed texts', 'model');
  const { vectors, inputTokens } = await context.embeddings.embed({ model, texts, dimensions: dimensions ?? undefined }, signal);
  const shown = (vector: readonly number[]) => (format === 'base64' ? base64Of(vector) : vector);
  return {
    object: 'list' as const,
    data: vectors.map((vector, index) => ({ object: 'embedding' as const, index, embedding: shown(vector) })),
    model,
    usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
  };
};

/** 32-bit numbers, little-endian, as OpenAI's clients read them. */
const base64Of = (vector: readonly number[]): string => {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
};
