import { createModels } from '../../../shared/adapters/model/create.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { withProviderKeys } from '../../../shared/runtime/config/provider-keys.ts';
import { refusePublicBind } from '../../gateway/main.ts';
import type { World } from '../terminal.ts';

/**
 * What `natter up` refuses although the file is as the schema wants it: an address that others can reach, a model or a key that is not there.
 * Gives the environment with the keys of the providers. Throws `NatterError('invalid')` with the field and the fix.
 */
export const refuseUnstartable = (config: Config, env: World['env']): World['env'] => {
  refusePublicBind(config.gateway);
  const keys = withProviderKeys(config, env);
  createModels(config, keys, systemClock);
  return keys;
};
