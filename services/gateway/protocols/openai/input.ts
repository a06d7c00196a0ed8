import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { bodyOf } from '../../http/input.ts';

/**
 * The input, in OpenAI's two forms. Unknown fields and tuning parameters are ignored; fields that would change the meaning of the answer are
 * refused. Throws `NatterError('invalid')` and `'unsupported'` that name the field.
 */

/** One message of the request. */
export interface Turn {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  readonly text: string;
}
/** A request of either kind. */
export interface CompletionRequest {
  readonly model: string;
  readonly turns: readonly Turn[];
  /** The name of the turns in the body. */
  readonly field: 'messages' | 'input';
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Names the session, as the next two fields do. */
  readonly user: string | undefined;
  readonly conversation: string | undefined;
  readonly previousResponseId: string | undefined;
}

const partOf = z.union([
  z.object({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() }).transform(({ text }) => text),
  z.object({ type: z.literal('refusal'), refusal: z.string() }).transform(({ refusal }) => refusal),
]);

/** A text, or its parts. */
const textOf = z.unknown().transform((content, context): string => {
  if (typeof content === 'string') return content;
  const wrong = (message: string, path: (string | number)[] = []): never => {
    context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  };
  if (!Array.isArray(content)) return wrong('use a text, or a list of parts with "type" and "text"');
  const parts = content.map((part) => partOf.safeParse(part));
  const bad = parts.findIndex(({ success }) => !success);
  if (bad >= 0) return wrong('only texts are taken: no images, sounds or files', [bad]);
  return parts.map(({ data = '' }) => data).join('');
});

const turn = z
  .object({
    type: z.literal('message', 'only messages are taken').optional(),
    role: z.enum(
      ['system', 'developer', 'user', 'assistant'],
      'use "system", "developer", "user" or "assistant"; the agent runs its tools itself',
    ),
    content: textOf,
    tool_calls: z.array(z.unknown()).max(0, 'the agent runs its tools itself; leave them out').nullish(),
  })
  .transform(({ role, content }): Turn => ({ role, text: content }));

const missing = 'name the agent, such as "natter"';
const common = {
  model: z.string(missing).min(1, missing),
  stream: z.boolean().nullish(),
  user: z.string().min(1, 'is empty; leave it out').max(1_024).nullish(),
};
export const chatBody = z.object({
  ...common,
  messages: z.array(turn, 'use a list of messages').min(1, 'is empty; send at least one message'),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});
export const responsesBody = z.object({
  ...common,
  input: z
    .preprocess(
      (input) => (typeof input === 'string' ? [{ role: 'user', content: input }] : input),
      z.array(turn, 'use a text or a list of messages').min(1, 'is empty; send at least one message'),
    )
    .meta({ description: 'a text, or a list of messages', type: ['string', 'array'] }),
  instructions: z.string().nullish(),
  conversation: z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)], 'use a session key').nullish(),
  previous_response_id: z.string().nullish(),
});

export const readChatRequest = (request: FastifyRequest): CompletionRequest => {
  const { model, messages, stream, stream_options: options, user } = bodyOf(chatBody, request);
  refuseUnsupported(request.body);
  return {
    model,
    turns: messages,
    field: 'messages',
    stream: stream === true,
    includeUsage: options?.include_usage === true,
    user: user ?? undefined,
    conversation: undefined,
    previousResponseId: undefined,
  };
};

export const readResponseRequest = (request: FastifyRequest): CompletionRequest => {
  const body = bodyOf(responsesBody, request);
  refuseUnsupported(request.body);
  const instructions: Turn[] = body.instructions ? [{ role: 'system', text: body.instructions }] : [];
  return {
    model: body.model,
    turns: [...instructions, ...body.input],
    field: 'input',
    stream: body.stream === true,
    includeUsage: true,
    user: body.user ?? undefined,
    conversation: body.conversation ?? undefined,
    previousResponseId: body.previous_response_id ?? undefined,
  };
};

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isText = (format: unknown): boolean => (format as { type?: unknown } | undefined)?.type === 'text';
const never = (): boolean => false;

/** Fields that change the meaning of an answer, each with its harmless values. */
const unsupported: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  tools: isEmpty,
  functions: isEmpty,
  tool_choice: (value) => value === 'auto' || value === 'none',
  function_call: (value) => value === 'auto' || value === 'none',
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  audio: never,
  modalities: (value) => JSON.stringify(value) === '["text"]',
  response_format: isText,
  text: (value) => ((value as { format?: unknown }).format ?? null) === null || isText((value as { format: unknown }).format),
  stop: isEmpty,
  web_search_options: never,
  background: (value) => value === false,
  prompt: never,
};

const refuseUnsupported = (body: unknown): void => {
  for (const [field, value] of Object.entries(body as Record<string, unknown>)) {
    if (value === null || !Object.hasOwn(unsupported, field) || unsupported[field]?.(value) !== false) continue;
    throw new NatterError('unsupported', `${field}: is not supported with this value; leave it out`, { field });
  }
};

/** The new message, and the context that the request sends along. */
export interface Conversation {
  readonly instructions: string;
  readonly earlier: readonly Turn[];
  readonly text: string;
}

export const conversationIn = ({ turns, field }: CompletionRequest): Conversation => {
  const isInstruction = ({ role }: Turn): boolean => role === 'system' || role === 'developer';
  const said = turns.filter((one) => !isInstruction(one));
  const last = said.at(-1);
  if (last?.role !== 'user' || last.text.trim() === '') {
    throw new NatterError('invalid', `${field}: its last message must be the user's, with some text`, { field });
  }
  const instructions = turns.filter(isInstruction).map(({ text }) => text);
  return { instructions: instructions.join('\n\n'), earlier: said.slice(0, -1), text: last.text };
};
