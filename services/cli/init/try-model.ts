import { createModels } from '../../../shared/adapters/model/create.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import type { World } from '../terminal.ts';

/** How the configured model took one small request. */
export type Trial =
  | { readonly ok: true; readonly model: string; readonly tookMs: number }
  | { readonly ok: false; readonly model: string; readonly code: string; readonly message: string };

/** A model on this machine may have to be loaded first. */
const trialMs = 120_000;
/** Room for models that think before they answer. */
const trialTokens = 1_024;

/** Sends one small request to `agent.model`, without fallbacks and retries. `env` has the keys. Throws `invalid` as `createModels` does. */
export const tryModel = async (config: Pick<Config, 'agent' | 'model' | 'context'>, env: World['env']): Promise<Trial> => {
  const limits = { connectMs: trialMs, firstTokenMs: trialMs, idleTokenMs: trialMs, totalMs: trialMs };
  const model = createModels(
    {
      ...(config as Config),
      agent: { ...config.agent, fallbacks: [] },
      model: { ...config.model, ...limits, retries: 0, maxOutputTokens: trialTokens },
    },
    env,
    systemClock,
  )();
  const prompt = 'Answer with the word "ready".';
  const began = systemClock.monotonic();
  const outcome = await model.step(
    {
      ...{ key: 'agent:main:trial' as SessionKey, turn: { id: 'trial', attempt: 1 }, step: 1, system: '', tools: [], prompt },
      messages: [{ role: 'user', text: prompt }],
    },
    () => {},
    new AbortController().signal,
  );
  const { name } = model;
  if (outcome.kind === 'failed') return { ok: false, model: name, code: outcome.code, message: outcome.message };
  return { ok: true, model: name, tookMs: Math.round(systemClock.monotonic() - began) };
};
