import type { ConfigInForce } from '../../../shared/client/main.ts';
import { chatCommandLines } from '../../../shared/domain/routing/chat-help.ts';

/** What can be written in place of what is begun. */
export interface Completion {
  /** The whole text with it. */
  readonly text: string;
  /** How it is listed, and what it does or stands for. */
  readonly name: string;
  readonly what: string;
}

export type ModelName = Pick<Completion, 'name' | 'what'>;

/** The models that the configuration names, in the order in which `/model` lists them: short names first. */
export const modelNamesIn = ({ keys }: Pick<ConfigInForce, 'keys'>): readonly ModelName[] => {
  const short: ModelName[] = [];
  const full = new Set<string>();
  for (const { path, value } of keys) {
    const [, alias] = /^model\.aliases\.(.+)$/.exec(path) ?? [];
    const [, provider] = /^model\.providers\.(.+)\.models$/.exec(path) ?? [];
    if (alias !== undefined) short.push({ name: alias, what: `short for ${String(value)}` });
    if (path === 'agent.model') full.add(String(value));
    if (provider !== undefined && Array.isArray(value)) for (const own of value) full.add(`${provider}/${String(own)}`);
  }
  return [...short, ...Array.from(full, (name) => ({ name, what: '' }))];
};

/** After it a model is named. */
export const modelWord = '/model ';

/** The chat commands that begin with what is written, until the first space; after `/model` the models that have it in their name. */
export const completionsFor = (text: string, models: readonly ModelName[]): readonly Completion[] => {
  if (/^\/\S*$/.test(text)) {
    const found = chatCommandLines.filter(([usage]) => usage.startsWith(text));
    return found.map(([usage, what]) => ({ text: `${usage.split(' ', 1)[0]} `, name: usage, what }));
  }
  const begun = text.startsWith(modelWord) ? text.slice(modelWord.length).toLowerCase() : null;
  if (begun === null || models.some(({ name }) => name.toLowerCase() === begun)) return [];
  const found = models.filter(({ name }) => name.toLowerCase().includes(begun));
  return found.map((model) => ({ ...model, text: `${modelWord}${model.name}` }));
};
