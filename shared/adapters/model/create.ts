import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/schema.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { Clock, Model } from '../../ports.ts';
import { AiSdkModel } from './ai-sdk.ts';
import { OfflineModel } from './offline.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The model that the configuration names: `offline`, or `provider/model` with a provider of `model.providers`. API keys come from the
 * environment variable the provider names. Throws `NatterError('invalid')` naming the field to mend.
 */
export const createModel = (config: Config, env: Environment, clock: Clock, name = config.agent.model): Model => {
  if (name === 'offline') return new OfflineModel(clock);
  return new AiSdkModel({ name, model: languageModel(name, config, env), limits: config.model, clock });
};

/**
 * The model of a session: the one it was given (A4/54), else the configured one. A name that is not known here (any more) is a model whose
 * every step fails and says so. Throws as `createModel` does if the configured one is not known.
 */
export const createModels = (config: Config, env: Environment, clock: Clock): ((name?: string) => Model) => {
  const made = new LRUCache<string, Model>({ max: limits.models });
  const usual = createModel(config, env, clock);
  return (name = usual.name) => {
    if (name === usual.name) return usual;
    const model = made.get(name) ?? createOrFail(name, config.context.windowTokens, () => createModel(config, env, clock, name));
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
    return {
      name,
      windowTokens,
      step: async () => ({ kind: 'failed', code: 'model_unknown', message }),
    };
  }
};

const languageModel = (name: string, { model }: Config, env: Environment): LanguageModel => {
  const [providerName = '', ...rest] = name.split('/');
  const modelId = rest.join('/');
  const provider = Object.hasOwn(model.providers, providerName) ? model.providers[providerName] : undefined;
  if (provider === undefined || modelId === '') {
    const known = ['offline', ...Object.keys(model.providers).map((known) => `${known}/<model>`)].join(', ');
    throw new NatterError('invalid', `agent.model "${name}" is not known; use one of: ${known}`, { field: 'agent.model' });
  }
  const apiKey = provider.apiKeyEnv === undefined ? undefined : env[provider.apiKeyEnv];
  if (provider.apiKeyEnv !== undefined && !apiKey) {
    const field = `model.providers.${providerName}.apiKeyEnv`;
    throw new NatterError('invalid', `${field} names ${provider.apiKeyEnv}, which is not set in the environment`, { field });
  }
  if (provider.kind === 'anthropic') {
    return createAnthropic({ ...(apiKey && { apiKey }), ...(provider.baseUrl && { baseURL: provider.baseUrl }) })(modelId);
  }
  if (provider.baseUrl === undefined) {
    const field = `model.providers.${providerName}.baseUrl`;
    throw new NatterError(
      'invalid',
      `${field} is missing; an OpenAI-compatible server needs its address, for example "http://127.0.0.1:11434/v1"`,
      {
        field,
      },
    );
  }
  const create = createOpenAICompatible({
    name: providerName,
    baseURL: provider.baseUrl,
    includeUsage: true,
    ...(apiKey && { apiKey }),
  });
  return create(modelId);
};
