import fuzzysort from 'fuzzysort';
import type { Config } from './schema.ts';

/** Resolves the word in `/new <model>` to a model (A4/54). */

/**
 * The model a word means, or the candidates if it is ambiguous. No candidates: a provider for which the configuration names no
 * model.
 */
export type NamedModel = { readonly model: string } | { readonly ambiguous: readonly string[] };

type Models = Pick<Config, 'model' | 'agent'>;

interface Name {
  readonly name: string;
  readonly model: string;
}

/**
 * The model that `word` means, or `null` if it names none. Tried in order: an alias; `provider/model`; a provider (its first
 * model, or the agent's own if that is one of them); a model name without its provider; the nearest name. Case does not matter,
 * nor do hyphens in a model name. When several names are about equally near, all are listed and none is chosen. When a text
 * follows (`alone: false`), only whole words of a name match: `/new open the window` must not select OpenAI.
 */
export const resolveModel = (word: string, config: Models, { alone = true } = {}): NamedModel | null => {
  if (word === '' || word.length > longestName) return null;
  const names = namesIn(config);
  const alias = names.aliases.find(({ name }) => isSame(name, word));
  return (
    (alias && { model: alias.model }) ??
    qualified(word, names) ??
    ofProvider(word, names) ??
    decided(names.models.filter(({ name }) => squeezed(name) === squeezed(word))) ??
    nearest(word, names, alone)
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
  return {
    aliases: Object.entries(model.aliases).map(([name, target]): Name => ({ name, model: target })),
    providers,
    models: providers.flatMap(({ models }) => models),
  };
};
type Names = ReturnType<typeof namesIn>;

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const squeezed = (name: string): string => name.toLowerCase().replaceAll(/[-_. ]/g, '');

/**
 * `provider/model`. A model that the configuration does not name is accepted, because providers offer more models than we know.
 */
const qualified = (word: string, { providers, models }: Names): NamedModel | null => {
  const [prefix = '', ...rest] = word.split('/');
  const found = providers.find(({ provider }) => isSame(provider, prefix));
  if (found === undefined || rest.join('/') === '') return null;
  const model = `${found.provider}/${rest.join('/')}`;
  return { model: models.find((known) => isSame(known.model, model))?.model ?? model };
};

const ofProvider = (word: string, { providers }: Names): NamedModel | null => {
  const found = providers.find(({ provider }) => isSame(provider, word));
  if (found === undefined) return null;
  return found.models[0] ? { model: found.models[0].model } : { ambiguous: [] };
};

const decided = (found: readonly Name[]): NamedModel | null => {
  const models = [...new Set(found.map(({ model }) => model))];
  return models[0] === undefined ? null : models.length === 1 ? { model: models[0] } : { ambiguous: models };
};

/**
 * Scores from 0 to 1. Below `leastScore` a name merely contains the letters somewhere. Names within `margin` of the best count as
 * equally near.
 */
const leastScore = 0.7;
const margin = 0.1;
const leastCharacters = 3;
const most = 10;

const nearest = (word: string, { aliases, providers, models }: Names, alone: boolean): NamedModel | null => {
  if (word.length < leastCharacters) return null;
  const first = providers.flatMap(({ provider, models: [own] }) => (own ? [{ name: provider, model: own.model }] : []));
  const named = [...aliases, ...first, ...models].filter(({ name }) => alone || hasWords(name, word));
  const found = fuzzysort.go(word, named, { key: 'name', threshold: leastScore, limit: most });
  const best = found[0]?.score ?? 0;
  return decided(found.filter(({ score }) => score >= best - margin).map(({ obj }) => obj));
};

const words = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
const hasWords = (name: string, word: string): boolean => words(word).trim() !== '' && words(name).includes(words(word));
