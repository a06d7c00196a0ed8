import { existsSync } from 'node:fs';
import { errorMessage, hasCode } from '../../../shared/kit/errors.ts';
import { configFileOf } from '../../../shared/runtime/config/load.ts';
import { type CommonOptions, sourceOf } from '../access.ts';
import type { World } from '../terminal.ts';
import { findProviders } from './find-providers.ts';
import { init } from './init.ts';
import { type Questions, terminalQuestions } from './questions.ts';

/**
 * On a terminal and without a configuration, `natter up` offers a model that is found here. Whatever a person chooses is written, so this is
 * asked once. A model that does not answer keeps nobody from starting; giving up does.
 */
export const offerModel = async (world: World, options: CommonOptions, given?: Questions): Promise<void> => {
  const { env, terminal } = world;
  const { path, named } = configFileOf(sourceOf(world, options));
  if (!terminal.interactive || named || existsSync(path) || env.NATTER_MODEL !== undefined) return;
  if ((await findProviders(env)).length === 0) return;
  try {
    await init(world, { ...options, test: true }, given ?? (await terminalQuestions(world)));
  } catch (error) {
    if (!hasCode(error, 'unavailable')) throw error;
    terminal.note(`${errorMessage(error)}. Starting with the offline model.`);
  }
};
