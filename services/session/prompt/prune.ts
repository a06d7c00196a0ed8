import type { ModelMessage } from '../../../shared/domain/prompt/model-request.ts';
import { messageCharacters } from '../../../shared/domain/prompt/tokens.ts';
import { charactersPerToken } from '../../../shared/kit/token-estimate.ts';

/** Assistant messages whose results stay as they are, and of how many more the boundary waits before it moves on. */
const recent = 3;
const stride = 8;
/** Shares of the window from which on old outputs are shortened, and left out. */
const softShare = 0.25;
const hardShare = 0.5;
/** Characters of an output that is not shortened; of one that is, its head and tail. */
const shortOutput = 4_000;
const [head, tail] = [1_500, 1_500];

/**
 * Shortens old outputs of tools in what the model gets; the log keeps them as they are (A7/86, B15). What people and the model said is
 * never touched. What becomes of a message depends only on those before a boundary that moves by several steps at a time, so that the
 * provider can reuse what it has cached between two moves. Only where that is not enough the boundary moves with each step.
 */
export const pruned = (
  messages: readonly ModelMessage[],
  { windowTokens }: { readonly windowTokens: number },
): readonly ModelMessage[] => {
  const window = windowTokens * charactersPerToken;
  const steady = prunedBefore(boundary(messages, stride), messages, window);
  return size(steady) <= window * (hardShare + softShare) ? steady : prunedBefore(boundary(messages, 1), messages, window);
};

/** The index of the first message that is not old. */
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

/** Leaves out outputs, oldest first, until the rest has at most so many characters. */
const cleared = (messages: readonly ModelMessage[], most: number): readonly ModelMessage[] => {
  const note = '[Old output left out.]';
  let total = size(messages);
  return messages.map((message) => {
    if (message.role !== 'tool' || total <= most || message.text.length <= note.length) return message;
    total -= message.text.length - note.length;
    return { ...message, text: note };
  });
};
