import type { ModelSettings } from '../../domain/values/client-request.ts';
import type { CallOptions } from './prompt.ts';

/** The settings of one step in the words of the AI SDK. `providerName`: the one in the configuration. */
export const sdkSettings = (settings: ModelSettings): Partial<CallOptions> => {
  const { toolChoice, temperature, topP, presencePenalty, frequencyPenalty, maxOutputTokens, stop, seed, format } = settings;
  const { name, description, schema } = format ?? {};
  return {
    ...given({ temperature, topP, presencePenalty, frequencyPenalty, maxOutputTokens, seed, stopSequences: stop }),
    ...(toolChoice !== undefined && { toolChoice: choiceOf(toolChoice) }),
    ...(format && {
      responseFormat: {
        type: 'json',
        ...given({ name, description }),
        ...(schema !== undefined && { schema: JSON.parse(schema) }),
      },
    }),
  };
};

const choiceOf = (choice: NonNullable<ModelSettings['toolChoice']>): NonNullable<CallOptions['toolChoice']> =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool };

type Options = NonNullable<CallOptions['providerOptions']>;

/** What the SDK has no word of its own for. */
export const providerSettings = ({ parallelCalls, logitBias, format }: ModelSettings, providerName: string): Options => ({
  [providerName]: given({ parallel_tool_calls: parallelCalls, logit_bias: logitBias }),
  ...(parallelCalls === false && { anthropic: { disableParallelToolUse: true } }),
  ...(format?.strict !== undefined && { openaiCompatible: { strictJsonSchema: format.strict } }),
});

/** Both, for each provider. */
export const mergedOptions = (one: Options, other: Options): Options =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => [name, { ...one[name], ...other[name] }]),
  );

/** Without the fields that are `undefined`. */
const given = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> };
