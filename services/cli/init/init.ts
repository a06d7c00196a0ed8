import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import JSON5 from 'json5';
import pc from 'picocolors';
import { keyVariable } from '../../../shared/domain/config/provider-key.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { configFileOf } from '../../../shared/runtime/config/load.ts';
import { withProviderKeys } from '../../../shared/runtime/config/provider-keys.ts';
import { type CommonOptions, sourceOf } from '../access.ts';
import type { World } from '../terminal.ts';
import { callerOf } from './caller.ts';
import { type Chosen, chooseModel, chooseProvider, type Wishes } from './choose.ts';
import { configText, offlineText } from './config-text.ts';
import { modelsAt } from './find-providers.ts';
import { type Questions, terminalQuestions } from './questions.ts';
import { failureOf, tryModel } from './try-model.ts';

export interface InitOptions extends CommonOptions, Wishes {
  /** Replace a configuration that is there; it is kept beside the new one. */
  readonly force?: boolean;
  /** Ask the model before anything is written. */
  readonly test: boolean;
}

/**
 * `natter init`: finds or asks for a provider, tries its model, and writes the configuration. Nothing that it prints or writes has a key, but
 * for a key that is typed, which gets a file of its own. Throws `NatterError('invalid')` if there is a configuration, and if there is nothing to
 * set up.
 */
export const init = async (world: World, options: InitOptions, given?: Questions): Promise<void> => {
  const { terminal } = world;
  const { path } = configFileOf(sourceOf(world, options));
  if (existsSync(path) && !options.force) {
    const advice = 'edit it (docs/use/models.md), or use --force to write a new one and keep this one as a .bak file';
    throw new NatterError('invalid', `${path} exists; ${advice}`);
  }
  const questions = given ?? (terminal.interactive ? await terminalQuestions(world) : null);
  const chosen = await chooseProvider(world, options, dirname(path), questions);
  const date = new Date(world.now()).toISOString().slice(0, 10);
  const text = chosen === null ? offlineText(date) : await textOf(world, options, chosen, questions, date);
  if (existsSync(path)) copyFileSync(path, `${path}.bak`);
  if (chosen?.typedKey !== undefined && chosen.key.keyFile !== undefined)
    writePrivate(chosen.key.keyFile, `${chosen.typedKey}\n`);
  writePrivate(path, text);
  terminal.out(`${pc.green('written')}  ${path}`);
  terminal.out(`Next: natter up`);
};

/** Writes a file that only this user can read. */
const writePrivate = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600, flush: true });
};

const textOf = async (
  { env, terminal }: World,
  options: InitOptions,
  { provider, key, typedKey }: NonNullable<Chosen>,
  questions: Questions | null,
  date: string,
): Promise<string> => {
  const { kind, baseUrl } = provider;
  const { model: settings } = configSchema.parse({ model: { providers: { [provider.name]: { kind, baseUrl, ...key } } } });
  const variable = Object.entries(settings.providers).map(([name, one]) => keyVariable(name, one))[0];
  // A key that was typed is in no file before its model has answered.
  const held =
    typedKey === undefined || variable === undefined
      ? withProviderKeys({ model: settings }, env)
      : { ...env, [variable]: typedKey };
  const isAsked = provider.offered === undefined && options.model === undefined;
  const listing = isAsked ? await modelsAt(provider, variable && held[variable]) : { models: provider.offered ?? [] };
  const model = await chooseModel(provider, listing, options, questions);
  const text = configText({ provider, key, model, models: provider.offered ?? provider.models }, date);
  terminal.out(`${pc.green('found')}    ${provider.title}, model ${model}`);
  if (!options.test) return text;
  terminal.progress(`asking ${provider.name}/${model} …`);
  const trial = await tryModel(configSchema.parse(JSON5.parse(text)), held);
  terminal.settled();
  if (trial.ok) {
    terminal.out(`${pc.green('works')}    ${trial.model} answered in ${(trial.tookMs / 1_000).toFixed(1)} s`);
    return text;
  }
  const { reason, advice } = failureOf(trial);
  const what = `${trial.model} did not answer: ${reason} (${trial.code}: ${trial.message}); ${advice}`;
  const again = `nothing was written; try again with: ${callerOf(env)} init`;
  if (questions === null) throw new NatterError('unavailable', `${what}; ${again} (--no-test writes without asking)`);
  terminal.note(`${pc.red('failed')}   ${what}`);
  if (await questions.isYes('Write the configuration nevertheless?')) return text;
  throw new NatterError('unavailable', again);
};
