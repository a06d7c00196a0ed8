import type { Config } from '../config/schema.ts';

/** The model a word means; `ambiguous` lists what it could mean as well. */
export type NamedModel = { readonly model: string } | { readonly ambiguous: readonly string[] };

/** The model that `word` of `/new <word>` means, or `null` when it is no model's name (A4/54). */
export const resolveModel = (word: string, { model }: Pick<Config, 'model'>): NamedModel | null => {
  const alias = Object.hasOwn(model.aliases, word) ? model.aliases[word] : undefined;
  return alias === undefined ? null : { model: alias };
};
