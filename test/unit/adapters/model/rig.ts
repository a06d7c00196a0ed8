import { onTestFinished } from 'vitest';
import { createModels } from '../../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { ModelRequest } from '../../../../shared/domain/prompt/model-request.ts';
import type { StepOutcome } from '../../../../shared/domain/values/types.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import {
  type Answer,
  anthropic,
  type Dialect,
  openai,
  type ProviderServer,
  startProvider,
} from '../../../support/provider-server.ts';

export const dialects: readonly [string, Dialect][] = [openai, anthropic].map((dialect) => [dialect.kind, dialect]);
export const plantedKey = 'planted-key-4711';

/** A provider that answers like this, until the test is over. */
export const provide = async (...answers: [Answer, ...Answer[]]): Promise<ProviderServer> => {
  const server = await startProvider(...answers);
  onTestFinished(server.close);
  return server;
};

export const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  key: 'agent:main:main' as SessionKey,
  turn: { id: 't1', attempt: 1 },
  step: 1,
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'hi' }],
  tools: [],
  prompt: 'hi',
  ...change,
});

/** Models as the configuration makes them: `<name>/tiny` for each of these providers. */
export const modelsAt = (
  providers: Readonly<Record<string, { dialect: Dialect; url: string; windows?: object; inputs?: object }>>,
  { model = {}, ...config }: { agent?: object; model?: object; context?: object } = {},
  clock: Clock = systemClock,
) => {
  const entries = Object.entries(providers).map(([name, { dialect, url, windows, inputs }]) => {
    const provider = {
      kind: dialect.kind,
      baseUrl: url,
      apiKeyEnv: 'PLANTED_KEY',
      ...(windows && { windows }),
      ...(inputs && { inputs }),
    };
    return [name, provider];
  });
  const parsed = configSchema.parse({ ...config, model: { ...model, providers: Object.fromEntries(entries) } });
  return createModels(parsed, { PLANTED_KEY: plantedKey }, clock);
};

export interface Taken {
  readonly outcome: StepOutcome;
  /** The pieces told while it went on. */
  readonly told: readonly string[];
  readonly tookMs: number;
}
/** One step against a server. `limits`: of the configuration's `model` section. */
export const take = async (
  dialect: Dialect,
  { url }: Pick<ProviderServer, 'url'>,
  limits: object = {},
  change: Partial<ModelRequest> = {},
  clock?: Clock,
): Promise<Taken> => {
  const told: string[] = [];
  const model = modelsAt({ local: { dialect, url } }, { model: { retries: 0, ...limits } }, clock)('local/tiny');
  const began = performance.now();
  const outcome = await model.step(request(change), (text) => told.push(text), new AbortController().signal);
  return { outcome, told, tookMs: performance.now() - began };
};
