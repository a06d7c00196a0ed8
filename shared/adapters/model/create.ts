import { LRUCache } from 'lru-cache';
import { keyVariable } from '../../domain/config/provider-key.ts';
import type { Config } from '../../domain/config/schema.ts';
import { fileKinds } from '../../domain/values/media-type.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import { scrubber } from '../../kit/scrub.ts';
import type { Model } from '../../ports/model.ts';
import { AiSdkModel } from './ai-sdk.ts';
import { FallbackModel } from './fallback.ts';
import { OfflineModel } from './offline.ts';
import type { ProviderModel } from './prompt.ts';
import { withoutSecrets } from './without-secrets.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns a function that gives a session's model by its name (A4/54), by default the configured `agent.model`, each with
 * `agent.fallbacks` behind it and without `secrets` in what it writes. `introduction`: what the offline model adds to its first answer. An unknown name gives a model whose steps all fail with a message that says so. Throws `invalid`
 * with the field to fix if a configured model is unknown.
 */
export const createModels = (
  config: Config,
  env: Environment,
  clock: Clock,
  secrets: readonly string[] = [],
  introduction = '',
): ((name?: string) => Model) => {
  const { agent } = config;
  const create = (name: string, field = 'agent.model'): Model => createModel({ name, field, config, env, clock, introduction });
  const fallbacks = agent.fallbacks.map((name, index) => create(name, `agent.fallbacks.${index}`));
  const withFallbacks = (model: Model): Model => {
    const others = fallbacks.filter(({ name }) => name !== model.name);
    return withoutSecrets(others.length === 0 ? model : new FallbackModel([model, ...others]), secrets);
  };
  const made = new LRUCache<string, Model>({ max: limits.models });
  const usual = withFallbacks(create(agent.model));
  return (name = usual.name) => {
    if (name === usual.name) return usual;
    const model = made.get(name) ?? createOrFail(name, config.context.windowTokens, () => withFallbacks(create(name)));
    made.set(name, model);
    return model;
  };
};

const createOrFail = (name: string, windowTokens: number, create: () => Model): Model => {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof NatterError)) throw error;
    const { message } = error;
    return { name, windowTokens, step: async () => ({ kind: 'failed', code: 'model_unknown', message }) };
  }
};

interface Wanted {
  readonly name: string;
  /** The configuration field that contains the name. */
  readonly field: string;
  readonly config: Config;
  readonly env: Environment;
  readonly clock: Clock;
  readonly introduction: string;
}

/** `offline`, or `provider/model` with a provider of `model.providers`. */
const createModel = ({ name, field, config, env, clock, introduction }: Wanted): Model => {
  if (name === 'offline') return new OfflineModel(clock, config.context.windowTokens, introduction);
  const { providers } = config.model;
  const [providerName = '', ...rest] = name.split('/');
  const modelId = rest.join('/');
  const provider = Object.hasOwn(providers, providerName) ? providers[providerName] : undefined;
  if (provider === undefined || modelId === '') {
    const known = ['offline', ...Object.keys(providers).map((known) => `${known}/<model>`)].join(', ');
    throw new NatterError('invalid', `${field} "${name}" is not known; use one of: ${known}`, { field });
  }
  const apiKey = keyOf(providerName, provider, env);
  const windows = new Map(Object.entries(provider.windows));
  const inputs = new Map(Object.entries(provider.inputs));
  return new AiSdkModel({
    name,
    windowTokens: windows.get(modelId) ?? config.context.windowTokens,
    inputs: inputs.get(modelId) ?? usualInputs[provider.kind],
    takesBias: provider.kind === 'openai-compatible',
    model: languageModel({ providerName, provider, apiKey, modelId }),
    limits: config.model,
    clock,
    scrub: scrubber(apiKey === undefined ? [] : [apiKey]),
  });
};

/** What a provider can be sent at all. A model that does not take it refuses, and is asked again without. */
const usualInputs = { 'openai-compatible': fileKinds, anthropic: ['image', 'pdf'] } as const;

export type Provider = Config['model']['providers'][string];

/** The key comes from the environment (`withProviderKeys`), never from the configuration. A self-hosted server may need none. */
export const keyOf = (name: string, provider: Provider, env: Environment): string | undefined => {
  const { apiKeyEnv } = provider;
  const variable = keyVariable(name, provider);
  if (variable === undefined) return undefined;
  const key = env[variable];
  if (key) return key;
  const field = `model.providers.${name}.apiKeyEnv`;
  const fix = `set it (export ${apiKeyEnv}=…), or let "natter init --force" keep the key in a file`;
  throw new NatterError('invalid', `${field} names ${apiKeyEnv}, which is not set in the environment; ${fix}`, { field });
};

const anthropicURL = 'https://api.anthropic.com/v1';

interface Named {
  readonly providerName: string;
  readonly provider: Provider;
  readonly apiKey: string | undefined;
  readonly modelId: string;
}
/** Loads the SDK now, and only that of this kind: no step waits for it, and an installation without a provider does not have it in memory. */
const languageModel = ({
  providerName,
  provider,
  apiKey,
  modelId,
}: Named): ((fetch: typeof globalThis.fetch) => Promise<ProviderModel>) => {
  const { kind, baseUrl: baseURL } = provider;
  if (kind === 'anthropic') {
    // Without these the SDK would read the environment and might send another key, or send ours elsewhere (I12).
    const settings = { apiKey: apiKey ?? '', baseURL: baseURL ?? anthropicURL };
    const sdk = import('@ai-sdk/anthropic');
    return async (fetch) => (await sdk).createAnthropic({ ...settings, fetch })(modelId);
  }
  if (baseURL !== undefined) {
    const sdk = openAiCompatible({ name: providerName, baseURL, apiKey });
    return async (fetch) => (await sdk)(fetch)(modelId);
  }
  const field = `model.providers.${providerName}.baseUrl`;
  const hint = 'an OpenAI-compatible server needs its address, for example "http://127.0.0.1:11434/v1"';
  throw new NatterError('invalid', `${field} is missing; ${hint}`, { field });
};

/** Loads the SDK of servers that speak OpenAI's wire format. */
export const openAiCompatible = async ({ apiKey, ...place }: { name: string; baseURL: string; apiKey: string | undefined }) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const settings = { ...place, includeUsage: true, supportsStructuredOutputs: true, ...(apiKey !== undefined && { apiKey }) };
  return (fetch: typeof globalThis.fetch) => createOpenAICompatible({ ...settings, fetch });
};
