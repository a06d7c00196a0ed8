import { dangers, ownerless } from '../../../shared/domain/routing/dm-safety.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { type Config, configFileOf } from '../../../shared/runtime/config/load.ts';
import { followConfig, type LiveConfig } from '../../../shared/runtime/config/reload.ts';
import { type CommonOptions, sourceOf } from '../access.ts';
import type { World } from '../terminal.ts';

/**
 * The configuration of a long-running process: follows the file, sets the log level, and warns about dangerous settings (A3/31). `start` is
 * the configuration at the start; `load` reads it again.
 */
export const openConfig = (
  world: World,
  options: CommonOptions,
  { start, load, log }: { start: Config; load: () => Config; log: Logger },
): LiveConfig => {
  const apply = (config: Config): void => {
    log.level = config.log.level;
    for (const danger of dangers(config)) log.warn({ danger }, 'DANGER: people may read messages that are not for them');
    const nobody = ownerless(config);
    if (nobody !== null) log.warn(nobody);
  };
  apply(start);
  const file = configFileOf(sourceOf(world, options)).path;
  return followConfig({ file, start, load, log, changed: apply });
};
