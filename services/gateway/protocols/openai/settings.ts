import { z } from 'zod';
import { type ClientRequest, clientRequest } from '../../../../shared/domain/values/client-request.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { parsed } from '../../../../shared/kit/text/issue-text.ts';
import { checked } from '../../http/input.ts';
import { toolFields, toolsIn } from './tools.ts';

/**
 * What a request wants besides an answer: its own tools, the form of the answer, and settings of the model. All of it is passed on; what Natter
 * cannot pass on and what would change the answer is refused by name.
 */

const invalid = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });
export const unsupported = (field: string, message = 'is not supported with this value; leave it out'): NatterError =>
  new NatterError('unsupported', `${field}: ${message}`, { field });

const schema = z.record(z.string(), z.unknown());
const number = z.number('use a number').nullish();
const whole = z.int('use a whole number').nullish();
const jsonFormat = {
  name: z.string().nullish(),
  description: z.string().nullish(),
  schema: schema.nullish(),
  strict: z.boolean().nullish(),
};
const format = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('json_object') }),
    z.object({ type: z.literal('json_schema'), json_schema: z.object(jsonFormat).optional(), ...jsonFormat }),
  ],
  { error: 'use "text", "json_object" or "json_schema"' },
);
const effort = z.string('use a text').min(1).max(32).nullish();
const settings = z.object({
  ...toolFields,
  parallel_tool_calls: z.boolean('use true or false').nullish(),
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  max_tokens: whole,
  max_completion_tokens: whole,
  max_output_tokens: whole,
  seed: whole,
  logit_bias: z.record(z.string(), number, 'use {"token": number}').nullish(),
  stop: z.union([z.string(), z.array(z.string())], 'use a text or a list of texts').nullish(),
  response_format: format.nullish(),
  text: z.object({ format: format.nullish() }).nullish(),
  reasoning_effort: effort,
  include_reasoning: z.boolean('use true or false').nullish(),
  reasoning: z.object({ effort, summary: z.string('use a text').nullish() }, 'use {"effort": …, "summary": …}').nullish(),
  include: z.array(z.string(), 'use a list').nullish(),
});
type Settings = z.infer<typeof settings>;

/** What the program asks of the model; `undefined`: nothing. Throws `NatterError('invalid')` and `'unsupported'` that name the field. */
export const clientRequestIn = (body: unknown): ClientRequest | undefined => {
  refuseUnsupported(body as Record<string, unknown>);
  const given = checked(settings, body, 'body');
  const { tools = [], toolChoice } = toolsIn(given);
  const request = {
    ...(tools.length > 0 && { tools }),
    ...present({
      toolChoice,
      // It says nothing without tools, and providers refuse it then.
      parallelCalls: tools.length > 0 ? given.parallel_tool_calls : undefined,
      temperature: given.temperature,
      topP: given.top_p,
      presencePenalty: given.presence_penalty,
      frequencyPenalty: given.frequency_penalty,
      maxOutputTokens: given.max_completion_tokens ?? given.max_output_tokens ?? given.max_tokens,
      seed: given.seed,
      logitBias: isEmpty(given.logit_bias) ? undefined : given.logit_bias,
      stop: given.stop === null || given.stop?.length === 0 ? undefined : given.stop && [given.stop].flat(),
      format: formatOf(given),
      effort: given.reasoning?.effort ?? given.reasoning_effort,
      showsReasoning: asksForReasoning(given) ? (true as const) : undefined,
    }),
  };
  if (Object.keys(request).length === 0) return undefined;
  const result = parsed(clientRequest, request);
  if (result.success) return result.data;
  const { path = [], message = 'is not valid' } = result.error.issues[0] ?? {};
  throw invalid(nameIn(given, String(path[0])), message);
};

/** A summary of a response's reasoning, or as providers of chat completions have it. */
const asksForReasoning = ({ reasoning, include_reasoning: inChat, include }: Settings): boolean =>
  inChat === true || (reasoning?.summary ?? null) !== null || include?.includes(encryptedReasoning) === true;
/** Nothing here is encrypted: it is shown as it is. */
const encryptedReasoning = 'reasoning.encrypted_content';

/** OpenAI's names, for errors about a value that is out of range; of several that mean one thing, that in the request. */
const wireNames: Readonly<Record<string, readonly (keyof Settings)[]>> = {
  topP: ['top_p'],
  presencePenalty: ['presence_penalty'],
  frequencyPenalty: ['frequency_penalty'],
  maxOutputTokens: ['max_completion_tokens', 'max_output_tokens', 'max_tokens'],
  logitBias: ['logit_bias'],
  format: ['response_format', 'text'],
};
const nameIn = (given: Settings, own: string): string => {
  const name = wireNames[own]?.find((each) => given[each] !== undefined && given[each] !== null);
  return name === 'text' ? 'text.format' : (name ?? own);
};

const formatOf = ({ response_format: chat, text }: Settings): ClientRequest['format'] => {
  const wanted = chat ?? text?.format;
  if (!wanted || wanted.type === 'text') return undefined;
  if (wanted.type === 'json_object') return { kind: 'json' };
  const { name, description, schema: shape, strict } = wanted.json_schema ?? wanted;
  if (!shape)
    throw invalid(
      chat ? 'response_format.json_schema.schema' : 'text.format.schema',
      'is missing; say what the answer looks like',
    );
  return { kind: 'json', schema: JSON.stringify(shape), ...present({ name, description, strict }) };
};

/** Without the fields that are not given. */
const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value ?? {}).length === 0;
const never = (): boolean => false;

/** What is not passed on, each with its harmless values. */
const refused: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  functions: isEmpty,
  function_call: (value) => value === 'auto' || value === 'none',
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  audio: never,
  modalities: (value) => JSON.stringify(value) === '["text"]',
  prediction: never,
  web_search_options: never,
  prompt: never,
  include: (value) => Array.isArray(value) && value.every((one) => one === encryptedReasoning),
  max_tool_calls: never,
};

const refuseUnsupported = (body: Record<string, unknown>): void => {
  for (const [field, value] of Object.entries(body)) {
    if (value === null || !Object.hasOwn(refused, field) || refused[field]?.(value) !== false) continue;
    throw unsupported(field);
  }
};
