import { z } from 'zod';

/** What the OpenAI-compatible calls answer with, as far as Natter gives it a meaning. */

export const model = z
  .object({ id: z.string(), object: z.literal('model'), created: z.number(), owned_by: z.string() })
  .meta({ id: 'OpenAiModel', description: 'An agent, as a model.' });
export const models = z.object({ object: z.literal('list'), data: z.array(model) });

const count = z.int().min(0);

export const chatCompletionResult = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.number(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.number(),
        message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
        finish_reason: z.string(),
      }),
    ),
    usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  })
  .meta({ id: 'ChatCompletion', description: 'The answer of one run. See docs/integrate/openai-api.md.' });

export const response = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.number(),
    status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    conversation: z.object({ id: z.string().describe('the session key') }).nullable(),
    previous_response_id: z.string().nullable(),
    model: z.string(),
    output: z.array(z.looseObject({ type: z.enum(['message', 'function_call', 'reasoning']) })),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    usage: z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count }).nullable(),
  })
  .meta({ id: 'OpenAiResponse', description: 'One run, as a response. See docs/integrate/openai-api.md.' });

const item = z.looseObject({ id: z.string(), type: z.enum(['message', 'function_call', 'function_call_output']) });
export const conversationItem = item.meta({ id: 'OpenAiItem', description: "What was said, or a call of a program's tool." });
export const itemList = z.object({
  object: z.literal('list'),
  data: z.array(conversationItem),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export const deletedResponse = z.object({ id: z.string(), object: z.literal('response'), deleted: z.boolean() });
export const conversation = z
  .object({
    id: z.string().describe('the session key'),
    object: z.literal('conversation'),
    created_at: z.number(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'OpenAiConversation', description: 'A session, as a conversation. See docs/integrate/openai-api.md.' });
export const deletedConversation = z.object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.boolean() });

export const embeddings = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: count,
      embedding: z.union([z.array(z.number()), z.string()]).describe('numbers, or 32-bit floats in base64'),
    }),
  ),
  model: z.string(),
  usage: z.object({ prompt_tokens: count, total_tokens: count }),
});

export const openAiError = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
  })
  .meta({ id: 'OpenAiError', description: "An error in OpenAI's shape; docs/integrate/openai-api.md lists the codes." });
