import { failureOf } from '../../../shared/domain/prompt/model-failure.ts';
import { errorMessage, hasCode } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { withProviderKeys } from '../../../shared/runtime/config/provider-keys.ts';
import { type Finding, fail, ok, warn } from '../../../shared/runtime/doctor/finding.ts';
import { namedModel } from '../init/named-model.ts';
import type { World } from '../terminal.ts';

/** Asks the agent's model one small question. Session hosts have an environment of their own, so a key that is missing here is no failure. */
export const askModel = async (config: Config, env: World['env']): Promise<Finding> => {
  const named = namedModel(config);
  if (config.agent.model === 'offline') return ok('model', 'offline: it repeats what you say; a real one: natter init');
  const { tryModel } = await import('../init/try-model.ts');
  try {
    const trial = await tryModel(config, withProviderKeys(config, env));
    if (trial.ok) return ok('model', `${named} answered in ${(trial.tookMs / 1_000).toFixed(1)} s`);
    const { reason, advice } = failureOf(trial);
    return fail('model', `${named}: ${reason} (${trial.code}: ${trial.message})`, advice);
  } catch (error) {
    if (!hasCode(error, 'invalid')) throw error;
    const fix = 'Natter does not start without the key: it is needed wherever "natter up" or one of its services is started';
    return warn('model', `${named} was not asked: ${errorMessage(error)}`, fix);
  }
};
