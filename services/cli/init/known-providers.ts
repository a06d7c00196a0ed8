import type { Config } from '../../../shared/domain/config/schema.ts';

/** A provider of models that `natter init` knows. */
export interface KnownProvider {
  /** Its name under `model.providers`. */
  readonly name: string;
  readonly title: string;
  readonly kind: Config['model']['providers'][string]['kind'];
  readonly baseUrl: string;
  /** The variables that usually hold its key; none: it runs on this machine and needs no key. */
  readonly variables: readonly string[];
  /** Models to begin with: the first of these that it offers. */
  readonly models: readonly string[];
}

const compatible = (
  name: string,
  title: string,
  baseUrl: string,
  variables: readonly string[],
  ...models: string[]
): KnownProvider => ({ name, title, kind: 'openai-compatible', baseUrl, variables, models });

/** In the order in which they are proposed. */
export const knownProviders: readonly KnownProvider[] = [
  {
    ...{ name: 'anthropic', title: 'Anthropic', kind: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' },
    ...{ variables: ['ANTHROPIC_API_KEY'], models: ['claude-sonnet-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'] },
  },
  compatible('openai', 'OpenAI', 'https://api.openai.com/v1', ['OPENAI_API_KEY'], 'gpt-5-mini', 'gpt-5', 'gpt-4.1-mini'),
  compatible(
    ...(['gemini', 'Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'] as const),
    ...([['GEMINI_API_KEY', 'GOOGLE_API_KEY'], 'gemini-3-flash', 'gemini-2.5-flash'] as const),
  ),
  compatible(
    ...(['openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY']] as const),
    ...(['openai/gpt-5-mini', 'anthropic/claude-sonnet-5'] as const),
  ),
  compatible('xai', 'xAI', 'https://api.x.ai/v1', ['XAI_API_KEY'], 'grok-4-fast', 'grok-4'),
  compatible(
    'groq',
    'Groq',
    'https://api.groq.com/openai/v1',
    ['GROQ_API_KEY'],
    'openai/gpt-oss-120b',
    'llama-3.3-70b-versatile',
  ),
  compatible(
    'mistral',
    'Mistral',
    'https://api.mistral.ai/v1',
    ['MISTRAL_API_KEY'],
    'mistral-medium-latest',
    'mistral-small-latest',
  ),
  compatible('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1', ['DEEPSEEK_API_KEY'], 'deepseek-chat'),
  compatible(
    ...(['together', 'Together', 'https://api.together.xyz/v1', ['TOGETHER_API_KEY']] as const),
    ...(['openai/gpt-oss-120b', 'meta-llama/Llama-3.3-70B-Instruct-Turbo'] as const),
  ),
  compatible(
    'fireworks',
    'Fireworks',
    'https://api.fireworks.ai/inference/v1',
    ['FIREWORKS_API_KEY'],
    'accounts/fireworks/models/gpt-oss-120b',
  ),
  compatible('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', ['CEREBRAS_API_KEY'], 'gpt-oss-120b'),
  compatible('ollama', 'Ollama', 'http://127.0.0.1:11434/v1', []),
  compatible('lmstudio', 'LM Studio', 'http://127.0.0.1:1234/v1', []),
];
