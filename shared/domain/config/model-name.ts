import fuzzysort from 'fuzzysort';
import type { Config } from './schema.ts';
import { editDistance } from './suggest.ts';

/** Resolves the word in `/new <model>` to a model (A4/54, D5). */

/**
 * The model a word means. `guessed`: the word is only similar to its name, so say which was taken. `ambiguous`: it could be one
 * of these, so ask; empty for a provider of which the configuration names no model. `unknown`: it has the form of a model's name
 * and is none.
 */
export type NamedModel =
  | { readonly model: string; readonly guessed?: true }
  | { readonly ambiguous: readonly string[] }
  | { readonly unknown: string };

type Models = Pick<Config, 'model' | 'agent'>;

interface Name {
  readonly name: string;
  readonly model: string;
}

/**
 * The model that `word` means, or `null` if it is ordinary text. The first rule that applies counts:
 *
 * | the word is | result |
 * |---|---|
 * | an alias, a provider (its first model, or the agent's own if that is one of them), a model with or without its provider | taken |
 * | the agent's own model, alone, such as `offline` | taken |
 * | a provider, perhaps misspelt, `/` and a part of one of its models, or that misspelt | taken and said, or asked |
 * | … and any other model, since providers offer more than we know | taken and said |
 * | a part of a name: its beginning if the word is alone, else whole words of it | taken and said, or asked |
 * | the letters of a name with another version | asked |
 * | a misspelt name | taken and said; asked if it is short, or not alone |
 * | of the form `x/y` | unknown |
 *
 * Case does not matter, nor do hyphens in a model name. When several names are about equally near, all are listed and none is
 * chosen. `alone: false`: a text follows, so that what merely resembles a name is text: `/new open the window`.
 */
export const resolveModel = (word: string, config: Models, { alone = true } = {}): NamedModel | null => {
  if (word === '' || word.length > longestName) return null;
  const names = namesIn(config);
  return (
    exact(word, names) ??
    (alone && isSame(word, config.agent.model) ? { model: config.agent.model } : null) ??
    qualified(word, names) ??
    guess(partsOf(word, names.all, alone)) ??
    asked(otherVersions(word, names.models)) ??
    misspelt(word, names, alone) ??
    (/^\p{L}[^\s/:]*\/[^\s/]/u.test(word) ? { unknown: word } : null)
  );
};

const longestName = 128;

/** All names in the configuration by kind. The agent's own model comes first among its provider's models. */
const namesIn = ({ model, agent }: Models) => {
  const providers = Object.entries(model.providers).map(([provider, { models }]) => {
    const own = agent.model.startsWith(`${provider}/`) ? [agent.model.slice(provider.length + 1)] : [];
    const names = [...new Set([...own, ...models])];
    return { provider, models: names.map((name): Name => ({ name, model: `${provider}/${name}` })) };
  });
  const aliases = Object.entries(model.aliases).map(([name, target]): Name => ({ name, model: target }));
  const models = providers.flatMap((one) => one.models);
  const firsts = providers.flatMap(({ provider, models: [own] }) => (own ? [{ name: provider, model: own.model }] : []));
  return { aliases, providers, models, all: [...aliases, ...firsts, ...models] };
};
type Names = ReturnType<typeof namesIn>;

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const squeezed = (name: string): string => name.toLowerCase().replaceAll(/[-_. ]/g, '');
const isSpelt =
  (word: string) =>
  ({ name }: Name): boolean =>
    squeezed(name) === squeezed(word);

const exact = (word: string, { aliases, providers, models }: Names): NamedModel | null => {
  const alias = aliases.find(({ name }) => isSame(name, word));
  if (alias) return { model: alias.model };
  const full = models.find(({ model }) => isSame(model, word));
  if (full) return { model: full.model };
  const found = providers.find(({ provider }) => isSame(provider, word));
  if (found) return found.models[0] ? { model: found.models[0].model } : { ambiguous: [] };
  return decided(models.filter(isSpelt(word)));
};

/** `provider/model`, where either may be only similar. */
const qualified = (word: string, { providers }: Names): NamedModel | null => {
  const [prefix = '', ...rest] = word.split('/');
  const name = rest.join('/');
  const given = providers.find(({ provider }) => isSame(provider, prefix));
  const near = providers.filter(({ provider }) => isMisspelt(prefix, provider));
  const found = given ?? (near.length === 1 ? near[0] : undefined);
  if (found === undefined || name === '') return null;
  const spelt = decided(found.models.filter(isSpelt(name)));
  if (spelt !== null) return given ? spelt : guessed(spelt);
  const part = squeezed(name);
  const containing = part.length < leastCharacters ? [] : found.models.filter((model) => squeezed(model.name).includes(part));
  const similar = containing.length > 0 ? containing : found.models.filter((model) => isMisspelt(name, model.name));
  return guess(similar) ?? { model: `${found.provider}/${name}`, guessed: true };
};

const decided = (found: readonly Name[]): NamedModel | null => {
  const models = [...new Set(found.map(({ model }) => model))];
  return models[0] === undefined ? null : models.length === 1 ? { model: models[0] } : { ambiguous: models };
};
const guessed = (named: NamedModel): NamedModel => ('model' in named ? { ...named, guessed: true } : named);
const guess = (found: readonly Name[]): NamedModel | null => {
  const named = decided(found);
  return named && guessed(named);
};
const asked = (found: readonly Name[]): NamedModel | null =>
  found.length === 0 ? null : { ambiguous: [...new Set(found.map(({ model }) => model))] };

/**
 * Scores from 0 to 1. Below `leastScore` a name merely contains the letters somewhere. Names within `margin` of the best count as
 * equally near.
 */
const leastScore = 0.7;
const margin = 0.1;
const leastCharacters = 3;
const most = 10;

/** The names of which the word is a part. */
const partsOf = (word: string, names: readonly Name[], alone: boolean): readonly Name[] => {
  if (word.length < leastCharacters) return [];
  const named = names.filter(({ name }) => alone || hasWords(name, word));
  const found = fuzzysort.go(word, named, { key: 'name', threshold: leastScore, limit: most });
  const best = found[0]?.score ?? 0;
  return found.filter(({ score }) => score >= best - margin).map(({ obj }) => obj);
};

const lettersIn = (text: string): string => squeezed(text).replaceAll(/\d/g, '');
const digitsIn = (text: string): string => text.replaceAll(/\D/g, '');

/** The models that differ from the word in their version only: nobody means one version and types another. */
const otherVersions = (word: string, models: readonly Name[]): readonly Name[] => {
  const letters = lettersIn(word);
  if (letters === '' || digitsIn(word) === '') return [];
  const isPart = letters.length >= leastCharacters;
  return models.filter(({ name }) => lettersIn(name) === letters || (isPart && hasWords(name, letters)));
};

/** Wrong letters that a name may have, by its length. In a shorter one each letter makes another word. */
const wrongLetters = (name: string): number => (name.length < 4 ? 0 : name.length < 8 ? 1 : 2);
/** A shorter word may well be an ordinary one. */
const sureCharacters = 5;

/** True for other letters and the same version. */
const isMisspelt = (word: string, name: string): boolean => {
  const [typed, right] = [squeezed(word), squeezed(name)];
  const isNear = Math.abs(typed.length - right.length) <= 2 && editDistance(typed, right) <= wrongLetters(right);
  return isNear && digitsIn(word) === digitsIn(name);
};

const misspelt = (word: string, { all, models }: Names, alone: boolean): NamedModel | null => {
  const typed = squeezed(word).length;
  const whole = all.filter(({ name }) => isMisspelt(word, name));
  if (!alone) return typed > sureCharacters ? asked(whole) : null;
  const parts = models.filter(({ name }) =>
    words(name)
      .trim()
      .split(' ')
      .some((part) => isMisspelt(word, part)),
  );
  const found = whole.length > 0 ? whole : parts;
  return typed < sureCharacters ? asked(found) : guess(found);
};

const words = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
const hasWords = (name: string, word: string): boolean => words(word).trim() !== '' && words(name).includes(words(word));
