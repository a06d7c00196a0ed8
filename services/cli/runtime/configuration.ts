import { dangers } from '../../../shared/domain/routing/dm-safety.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { type Config, configFileOf } from '../../../shared/runtime/config/load.ts';
import { followConfig, type LiveConfig } from '../../../shared/runtime/config/reload.ts';
import { type CommonOptions, sourceOf } from '../access.ts';
import type { World } from '../terminal.ts';

/**
 * The configuration of a process that stays: it follows its file, sets the level of the log, and warns of what is dangerous (A3/31).
 * `start` is what the process began with; `load` gives the same with what the file says by then.
 */
export const openConfig = (
  world: World,
  options: CommonOptions,
  { start, load, log }: { start: Config; load: () => Config; log: Logger },
): LiveConfig => {
  const inForce = (config: Config): void => {
    log.level = config.log.level;
    for (const danger of dangers(config)) log.warn({ danger }, 'DANGER: people may read what is not for them');
  };
  inForce(start);
  const file = configFileOf(sourceOf(world, options)).path;
  return followConfig({ file, start, load, log, changed: inForce });
};
