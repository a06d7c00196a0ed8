import JSON5 from 'json5';
import pc from 'picocolors';
import { keyVariable } from '../../../shared/domain/config/provider-key.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { editDistance } from '../../../shared/domain/config/suggest.ts';
import { failureOf } from '../../../shared/domain/prompt/model-failure.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { withProviderKeys } from '../../../shared/runtime/config/provider-keys.ts';
import type { World } from '../terminal.ts';
import { type Chosen, withTypedKey } from './ask-provider.ts';
import { callerOf } from './caller.ts';
import { anotherModel, chooseModel, noKeySent, type Wishes, whyNone } from './choose.ts';
import { configText } from './config-text.ts';
import { type FoundProvider, isAtUsualAddress, type Listing, modelsAt } from './find-providers.ts';
import type { Choice, Questions } from './questions.ts';
import { type Trial, tryModel } from './try-model.ts';

export interface TrialOptions extends Wishes {
  /** Ask the model before anything is written. */
  readonly test: boolean;
}
interface Tried {
  readonly text: string;
  readonly chosen: Chosen;
}
type Way = 'again' | 'model' | 'key' | 'write' | 'leave';

/** What is changed after a model did not answer; all else stays as it was given. */
const ways = (isKeyTyped: boolean, isKeyRefused: boolean): Choice<Way>[] => {
  const key: Choice<Way> = { value: 'key', label: isKeyTyped ? 'Type the key again' : 'Type a key' };
  return [
    ...(isKeyRefused ? [key] : []),
    { value: 'again', label: 'Try the same again' },
    ...(isKeyTyped && !isKeyRefused ? [key] : []),
    { value: 'model', label: 'Another model' },
    { value: 'write', label: 'Write the configuration nevertheless' },
    { value: 'leave', label: 'Give up', hint: 'nothing is written' },
  ];
};

/** The environment with the key of this provider. A key that was typed is in no file before its model has answered. */
const withKey = (env: World['env'], { provider: { name, kind, baseUrl }, key, typedKey }: Chosen) => {
  const { model } = configSchema.parse({ model: { providers: { [name]: { kind, baseUrl, ...key } } } });
  const variable = Object.entries(model.providers).map(([named, one]) => keyVariable(named, one))[0];
  const held =
    typedKey === undefined || variable === undefined ? withProviderKeys({ model }, env) : { ...env, [variable]: typedKey };
  return { held, key: variable && held[variable] };
};

/**
 * The configuration of a provider whose model has answered, or that a person takes as it is, and the provider with the key that was typed for it
 * last. Throws `NatterError('unavailable')` if the model does not answer, and a person gives up or nobody can be asked.
 */
export const triedText = async (
  { env, terminal }: World,
  { options, dataDir, date }: { readonly options: TrialOptions; readonly dataDir: string; readonly date: string },
  first: Chosen,
  questions: Questions | null,
): Promise<Tried> => {
  const { provider } = first;
  let chosen = first;
  let listing: Listing = { models: provider.offered ?? [] };
  let { model } = options;
  for (;;) {
    const has = withKey(env, chosen);
    const isKeySent = has.key !== undefined;
    if (model === undefined) {
      if (provider.offered === undefined) listing = await modelsAt(provider, has.key);
      const canType = chosen.typedKey !== undefined || !isKeySent;
      if (questions !== null && 'problem' in listing) {
        terminal.note(`${pc.red('failed')}   ${whyNone(provider, listing, isKeySent)}`);
        if (canType && listing.status === 401) {
          chosen = await withTypedKey(provider, { questions, dataDir });
          continue;
        }
      }
      model = await chooseModel(provider, listing, isKeySent, questions);
    } else if (model === options.model && provider.offered === undefined) listing = await modelsAt(provider, has.key);
    const offered = 'models' in listing ? listing.models : [];
    const isUsual = isAtUsualAddress(provider);
    const models = furtherModels(provider, offered, isUsual);
    const text = configText({ provider, key: chosen.key, model, models }, date);
    const title = isUsual || provider.title === provider.baseUrl ? provider.title : `${provider.title} at ${provider.baseUrl}`;
    terminal.out(`${offered.includes(model) ? pc.green('found') : 'using'}    ${title}, model ${model}`);
    const doubt = doubtAbout(model, offered);
    if (!options.test) {
      if (doubt !== null) throw new NatterError('invalid', `${doubt}; without --no-test it is asked whether it answers`);
      if (offered.length === 0)
        terminal.note(`the model ${model} could not be checked: ${whyNone(provider, listing, isKeySent)}`);
      return { text, chosen };
    }
    terminal.progress(`asking ${provider.name}/${model} …`);
    const trial = await tryModel(configSchema.parse(JSON5.parse(text)), has.held);
    terminal.settled();
    if (trial.ok) {
      terminal.out(`${pc.green('works')}    ${trial.model} answered in ${(trial.tookMs / 1_000).toFixed(1)} s`);
      if (doubt !== null) terminal.note(`${doubt}; it answered nevertheless`);
      return { text, chosen };
    }
    const what = [whyFailed(trial, isKeySent), ...(doubt === null ? [] : [doubt])].join('; ');
    const later = `nothing was written; try again with: ${callerOf(env)} init`;
    if (questions === null)
      throw new NatterError('unavailable', `${what}; ${later}${doubt === null ? ' (--no-test writes without asking)' : ''}`);
    terminal.note(`${pc.red('failed')}   ${what}`);
    const way = await questions.choose('What now?', ways(chosen.typedKey !== undefined, trial.code === 'model_auth'));
    if (way === 'leave') throw new NatterError('unavailable', later);
    if (way === 'write') return { text, chosen };
    if (way === 'key') chosen = await withTypedKey(provider, { questions, dataDir });
    if (way === 'model') model = await anotherModel(provider, listing, model, questions);
  }
};

const mostNear = 3;

/** What speaks against a model that is not among those that its provider lists, some of which it also takes without their date or tag. */
const doubtAbout = (model: string, offered: readonly string[]): string | null => {
  const isOffered = offered.some((one) => [one, one.replace(/-\d{8}$|:latest$/, '')].includes(model));
  if (offered.length === 0 || isOffered) return null;
  const edits = new Map(offered.map((one) => [one, editDistance(model, one)]));
  const near = [...offered].sort((one, other) => (edits.get(one) ?? 0) - (edits.get(other) ?? 0)).slice(0, mostNear);
  return `the provider lists no model "${model}"; nearest: ${near.join(', ')}`;
};

const whyFailed = (trial: Extract<Trial, { ok: false }>, isKeySent: boolean): string => {
  const isKeyMissing = trial.code === 'model_auth' && !isKeySent;
  const { reason, advice } = isKeyMissing ? { ...noKeySent, reason: `the provider ${noKeySent.reason}` } : failureOf(trial);
  return `${trial.model} did not answer: ${reason} (${trial.code}: ${trial.message}); ${advice}`;
};

/** The usual models that the address offers, else all that it offers. Where it lists none, the usual ones of the provider's own address. */
const furtherModels = (
  { models: usual }: FoundProvider,
  offered: readonly string[],
  isUsualAddress: boolean,
): readonly string[] => {
  if (offered.length === 0) return isUsualAddress ? usual : [];
  const both = usual.filter((model) => offered.includes(model));
  return both.length > 0 ? both : offered;
};
