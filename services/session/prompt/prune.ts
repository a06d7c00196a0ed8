import type { ModelMessage } from '../../../shared/domain/prompt/model-request.ts';
import { messageCharacters } from '../../../shared/domain/prompt/tokens.ts';
import { charactersPerToken } from '../../../shared/kit/token-estimate.ts';

/** The results of the last `recent` assistant messages are kept. The boundary advances `stride` assistant messages at a time. */
const recent = 3;
const stride = 8;
/** Shares of the context window above which old outputs are shortened (soft) and removed (hard). */
const softShare = 0.25;
const hardShare = 0.5;
/** Longest output that is kept whole, and the head and tail kept of a longer one, in characters. */
const shortOutput = 4_000;
const [head, tail] = [1_500, 1_500];

/**
 * Shortens old tool outputs in the model's input; the log keeps them unchanged (A7/86, B15). Text by people and by the model is
 * never touched. How a message is pruned depends only on the messages before a boundary that advances several steps at a time, so
 * that the provider's cache stays valid in between. Only if that is not enough does the boundary advance with every step.
 */
export const pruned = (
  messages: readonly ModelMessage[],
  { windowTokens }: { readonly windowTokens: number },
): readonly ModelMessage[] => {
  const window = windowTokens * charactersPerToken;
  const steady = prunedBefore(boundary(messages, stride), messages, window);
  return size(steady) <= window * (hardShare + softShare) ? steady : prunedBefore(boundary(messages, 1), messages, window);
};

/** Index of the first message that is not old. */
const boundary = (messages: readonly ModelMessage[], step: number): number => {
  const answers = messages.flatMap(({ role }, index) => (role === 'assistant' ? index : []));
  const old = Math.floor(Math.max(0, answers.length - recent) / step) * step;
  return old === 0 ? 0 : (answers[old] ?? 0);
};

const prunedBefore = (end: number, messages: readonly ModelMessage[], window: number): readonly ModelMessage[] => {
  const old = messages.slice(0, end);
  if (size(old) <= window * softShare) return messages;
  return [...cleared(old.map(trimmed), window * hardShare), ...messages.slice(end)];
};

const size = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + messageCharacters(message), 0);

const trimmed = (message: ModelMessage): ModelMessage => {
  if (message.role !== 'tool' || message.text.length <= shortOutput) return message;
  const { text } = message;
  const note = `[… ${text.length - head - tail} characters left out …]`;
  return { ...message, text: `${text.slice(0, head).toWellFormed()}\n${note}\n${text.slice(-tail).toWellFormed()}` };
};

/** Removes outputs, oldest first, until at most `most` characters are left. */
const cleared = (messages: readonly ModelMessage[], most: number): readonly ModelMessage[] => {
  const note = '[Old output left out.]';
  let total = size(messages);
  return messages.map((message) => {
    if (message.role !== 'tool' || total <= most || message.text.length <= note.length) return message;
    total -= message.text.length - note.length;
    return { ...message, text: note };
  });
};
