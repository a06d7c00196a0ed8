import JSON5 from 'json5';
import pc from 'picocolors';
import { keyVariable } from '../../../shared/domain/config/provider-key.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { failureOf } from '../../../shared/domain/prompt/model-failure.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { withProviderKeys } from '../../../shared/runtime/config/provider-keys.ts';
import type { World } from '../terminal.ts';
import { callerOf } from './caller.ts';
import { anotherModel, askKey, type Chosen, chooseModel, type Wishes, whyNone } from './choose.ts';
import { configText } from './config-text.ts';
import { type FoundProvider, type Listing, modelsAt } from './find-providers.ts';
import type { Choice, Questions } from './questions.ts';
import { tryModel } from './try-model.ts';

export interface TrialOptions extends Wishes {
  /** Ask the model before anything is written. */
  readonly test: boolean;
}
interface Tried {
  readonly text: string;
  readonly typedKey?: string | undefined;
}
type Way = 'again' | 'model' | 'key' | 'write' | 'leave';

/** What is changed after a model did not answer; all else stays as it was given. */
const ways = (isKeyTyped: boolean): Choice<Way>[] => [
  { value: 'again', label: 'Ask it again' },
  ...(isKeyTyped ? [{ value: 'key', label: 'Type the key again' } as const] : []),
  { value: 'model', label: 'Another model' },
  { value: 'write', label: 'Write the configuration nevertheless' },
  { value: 'leave', label: 'Give up', hint: 'nothing is written' },
];

/** The environment with the key of this provider. A key that was typed is in no file before its model has answered. */
const withKey = (env: World['env'], { provider: { name, kind, baseUrl }, key }: NonNullable<Chosen>, typedKey?: string) => {
  const { model } = configSchema.parse({ model: { providers: { [name]: { kind, baseUrl, ...key } } } });
  const variable = Object.entries(model.providers).map(([named, one]) => keyVariable(named, one))[0];
  const held =
    typedKey === undefined || variable === undefined ? withProviderKeys({ model }, env) : { ...env, [variable]: typedKey };
  return { held, key: variable && held[variable] };
};

/**
 * The configuration of a provider whose model has answered, or that a person takes as it is, and the key that was typed for it. Throws
 * `NatterError('unavailable')` if the model does not answer, and a person gives up or nobody can be asked.
 */
export const triedText = async (
  { env, terminal }: World,
  options: TrialOptions,
  chosen: NonNullable<Chosen>,
  questions: Questions | null,
  date: string,
): Promise<Tried> => {
  const { provider, key } = chosen;
  let { typedKey } = chosen;
  let listing: Listing = { models: provider.offered ?? [] };
  let { model } = options;
  for (;;) {
    const has = withKey(env, chosen, typedKey);
    if (model === undefined) {
      if (provider.offered === undefined) listing = await modelsAt(provider, has.key);
      if (questions !== null && typedKey !== undefined && 'status' in listing && listing.status === 401) {
        terminal.note(`${pc.red('failed')}   ${provider.title} refused the key (${listing.problem})`);
        typedKey = await askKey(provider, questions);
        continue;
      }
      if (questions !== null && 'problem' in listing) terminal.note(`${pc.red('failed')}   ${whyNone(provider, listing)}`);
      model = await chooseModel(provider, listing, questions);
    }
    const offered = 'models' in listing ? listing.models : [];
    const models = furtherModels(provider, offered, options.baseUrl === undefined);
    const text = configText({ provider, key, model, models }, date);
    terminal.out(`${pc.green('found')}    ${provider.title}, model ${model}`);
    if (!options.test) return { text, typedKey };
    terminal.progress(`asking ${provider.name}/${model} …`);
    const trial = await tryModel(configSchema.parse(JSON5.parse(text)), has.held);
    terminal.settled();
    if (trial.ok) {
      terminal.out(`${pc.green('works')}    ${trial.model} answered in ${(trial.tookMs / 1_000).toFixed(1)} s`);
      return { text, typedKey };
    }
    const { reason, advice } = failureOf(trial);
    const what = `${trial.model} did not answer: ${reason} (${trial.code}: ${trial.message}); ${advice}`;
    const later = `nothing was written; try again with: ${callerOf(env)} init`;
    if (questions === null) throw new NatterError('unavailable', `${what}; ${later} (--no-test writes without asking)`);
    terminal.note(`${pc.red('failed')}   ${what}`);
    const way = await questions.choose('What now?', ways(typedKey !== undefined));
    if (way === 'leave') throw new NatterError('unavailable', later);
    if (way === 'write') return { text, typedKey };
    if (way === 'key') typedKey = await askKey(provider, questions);
    if (way === 'model') model = await anotherModel(provider, listing, model, questions);
  }
};

/** The usual models that the address offers, else all that it offers. Where it lists none, the usual ones of the provider's own address. */
const furtherModels = (
  { models: usual }: FoundProvider,
  offered: readonly string[],
  isOwnAddress: boolean,
): readonly string[] => {
  if (offered.length === 0) return isOwnAddress ? usual : [];
  const both = usual.filter((model) => offered.includes(model));
  return both.length > 0 ? both : offered;
};
