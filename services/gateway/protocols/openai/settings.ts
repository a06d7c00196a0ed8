import { z } from 'zod';
import { type ClientRequest, clientRequest } from '../../../../shared/domain/values/client-request.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { checked } from '../../http/input.ts';
import { parsed } from '../../http/issue-text.ts';

/**
 * What a request wants besides an answer: its own tools, the form of the answer, and settings of the model. All of it is passed on; what Natter
 * cannot pass on and what would change the answer is refused by name.
 */

const invalid = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });
export const unsupported = (field: string, message = 'is not supported with this value; leave it out'): NatterError =>
  new NatterError('unsupported', `${field}: ${message}`, { field });

const schema = z.record(z.string(), z.unknown());
const functionTool = z.object({
  type: z.literal('function', 'only functions are taken: the agent has other tools of its own'),
  name: z.string('name the tool').regex(/^[\w-]{1,64}$/, 'use 1 to 64 letters, digits, "_" and "-"'),
  description: z.string('use a text').nullish(),
  parameters: schema.nullish(),
  strict: z.boolean('use true or false').nullish(),
});
/** Chat completions nest a function, responses do not. */
const tool = z.preprocess((given) => {
  if (typeof given !== 'object' || given === null || !('function' in given)) return given;
  return typeof given.function === 'object' ? { ...given, ...given.function } : given;
}, functionTool);
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
const namedChoice = z.object({
  type: z.literal('function', 'only functions can be chosen'),
  name: z.string().optional(),
  function: z.object({ name: z.string() }).optional(),
});

const effort = z.string('use a text').min(1).max(32).nullish();
const settings = z.object({
  tools: z.array(tool, 'use a list of tools').nullish(),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), namedChoice], 'use "auto", "none", "required" or a function')
    .nullish(),
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
  const tools = toolsOf(given);
  const request = {
    ...(tools.length > 0 && { tools }),
    ...present({
      toolChoice: choiceOf(given),
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
  throw invalid(wireNames[String(path[0])] ?? String(path[0]), message);
};

/** A summary of a response's reasoning, or as providers of chat completions have it. */
const asksForReasoning = ({ reasoning, include_reasoning: inChat, include }: Settings): boolean =>
  inChat === true || (reasoning?.summary ?? null) !== null || include?.includes(encryptedReasoning) === true;
/** Nothing here is encrypted: it is shown as it is. */
const encryptedReasoning = 'reasoning.encrypted_content';

/** OpenAI's names, for errors about a value that is out of range. */
const wireNames: Readonly<Record<string, string>> = {
  topP: 'top_p',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  maxOutputTokens: 'max_tokens',
  logitBias: 'logit_bias',
  format: 'response_format',
};

const toolsOf = ({ tools }: Settings): NonNullable<ClientRequest['tools']> => {
  const names = new Set<string>();
  return (tools ?? []).map(({ name, description, parameters, strict }, index) => {
    if (names.has(name)) throw invalid(`tools.${index}`, `a tool ${JSON.stringify(name)} is there already`);
    names.add(name);
    const text = JSON.stringify(parameters ?? { type: 'object', properties: {} });
    return { name, ...(description && { description }), parameters: text, ...present({ strict }) };
  });
};

const choiceOf = ({ tools, tool_choice: choice }: Settings): ClientRequest['toolChoice'] => {
  if (choice === null || choice === undefined || choice === 'auto') return undefined;
  if (choice === 'none') return tools?.length ? 'none' : undefined;
  const name = choice === 'required' ? undefined : (choice.name ?? choice.function?.name ?? '');
  const known = name === undefined ? tools?.length : tools?.some((tool) => tool.name === name);
  if (!known) {
    const what = name === undefined ? '"required" needs a tool to call; add' : `no tool ${JSON.stringify(name)}; name one of`;
    throw invalid('tool_choice', `${what} "tools"`);
  }
  return name === undefined ? 'required' : { tool: name };
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
