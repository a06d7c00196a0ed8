import type { Config } from '../../domain/config/schema.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { scrubber } from '../../kit/scrub.ts';
import type { EmbeddedInputs, EmbeddingRequest, Embeddings } from '../../ports/models/embeddings.ts';
import { type Environment, keyOf, openAiCompatible, type Provider } from './create.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { ModelTrouble, troubleOf } from './trouble.ts';
import { Watch } from './watch.ts';

const refused = (code: 'invalid' | 'not_found' | 'unsupported', message: string): NatterError =>
  new NatterError(code, `model: ${message}`, { field: 'model' });

/** Embeddings of the providers in the configuration that speak OpenAI's wire format. */
export class ProviderEmbeddings implements Embeddings {
  readonly #config: () => Config;
  readonly #env: Environment;
  readonly #clock: Clock;

  /** `env` has the providers' keys; `config` is called for each request. */
  constructor(config: () => Config, env: Environment, clock: Clock) {
    this.#config = config;
    this.#env = env;
    this.#clock = clock;
  }

  async embed({ model, inputs, dimensions }: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddedInputs> {
    const config = this.#config();
    const { name, provider, modelId } = placeOf(model, config);
    const apiKey = keyOf(name, provider, this.#env);
    const watch = new Watch(this.#clock, config.model, signal);
    try {
      const sdk = await openAiCompatible({ name, baseURL: provider.baseUrl, apiKey });
      watch.asked();
      const { embeddings, usage } = await sdk(guardedFetch(watch))
        .embeddingModel(modelId)
        .doEmbed({
          // The SDK's type knows texts alone; it passes on what it is given.
          values: inputs as string[],
          abortSignal: watch.signal,
          ...(dimensions !== undefined && { providerOptions: { openaiCompatible: { dimensions } } }),
        });
      if (embeddings.length !== inputs.length) {
        const message = `the provider sent ${embeddings.length} vectors for ${inputs.length} inputs`;
        throw new ModelTrouble('model_invalid_answer', message);
      }
      return { vectors: embeddings, inputTokens: usage?.tokens ?? 0 };
    } catch (error) {
      if (signal.aborted) throw error;
      const trouble = watch.stopped ?? (await troubleOf(error, this.#clock.now()));
      throw asRefusal(trouble, scrubber(apiKey === undefined ? [] : [apiKey]));
    } finally {
      watch.end();
    }
  }
}

/** The provider that a name stands for, as in `agent.model`; without one it is that of `agent.model`. */
const placeOf = (model: string, { agent, model: { providers } }: Config) => {
  const usual = agent.model.split('/')[0] ?? '';
  const [first = '', ...rest] = model.split('/');
  const isNamed = rest.length > 0 && Object.hasOwn(providers, first);
  const name = isNamed ? first : usual;
  const modelId = isNamed ? rest.join('/') : model;
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (provider === undefined) {
    throw refused(
      'unsupported',
      'there is no provider that could embed texts; name one in "model.providers" and use "provider/model"',
    );
  }
  const { baseUrl } = provider;
  if (provider.kind !== 'openai-compatible' || baseUrl === undefined) {
    throw refused('unsupported', `the provider "${name}" embeds no texts; use "provider/model" with an OpenAI-compatible one`);
  }
  return { name, modelId, provider: { ...provider, baseUrl } satisfies Provider };
};

/** A provider's message may contain anything: it is cut before and after it is scrubbed. */
const asRefusal = ({ code, message, afterMs }: ModelTrouble, scrub: (text: string) => string): NatterError => {
  const text = `the provider: ${scrub(message.slice(0, 10_000)).slice(0, 1_000).toWellFormed()}`;
  if (code === 'model_rate_limited')
    return new NatterError('overloaded', text, afterMs === undefined ? {} : { retryAfterMs: afterMs });
  if (code === 'model_unknown') return refused('not_found', text);
  if (code === 'model_bad_request' || code === 'context_overflow') return new NatterError('invalid', text, { field: 'input' });
  return new NatterError('unavailable', text);
};
