import { suggest } from '../config/suggest.ts';
import { chatCommandIn } from './chat-command.ts';
import { chatCommandLines, chatCommandWords } from './chat-help.ts';

/** Further words at the beginning of a line that are no misspelt command. */
export interface FurtherWords {
  /** Those that the configuration has for a new session. */
  readonly triggers: readonly string[];
  /** Each with its `/`: the commands of skills, and those of the program itself. */
  readonly words: readonly string[];
  /** How those of the program itself are written. */
  readonly usages?: readonly string[];
}

/** What `/send` takes. */
export const sendChoices = 'on, off, inherit';

/**
 * Why a line that begins like a command is not sent; `null`: it is. So a misspelt command never goes to the model, nor one that stands alone with
 * more behind it. A path, and what has a space in front, is text.
 */
export const refusalOfLine = (line: string, { triggers, words, usages = [] }: FurtherWords): string | null => {
  const word = /^\/[a-z][\w-]*(?=\s|$)/iu.exec(line)?.[0];
  if (word === undefined) return null;
  const called = word.toLowerCase();
  const usage = [...chatCommandLines.map(([each]) => each), ...usages].find((each) => each.split(' ', 1)[0] === called);
  if (usage !== undefined && chatCommandIn(line, { triggers }) === null) {
    const rest = line.trim().slice(word.length).trim();
    return called === '/send' && rest !== ''
      ? `Nothing was changed: "${rest}" is none of ${sendChoices}.`
      : `Nothing was sent: the command is ${usage}, alone. With a space before it, the line is text.`;
  }
  const known = ['/skill', ...chatCommandWords, ...words, ...triggers];
  if (known.some((each) => each.toLowerCase() === called)) return null;
  const near = suggest(word, known);
  const nearText = near === null ? '' : ` Did you mean ${near}?`;
  return `There is no command ${word}.${nearText} /help lists them; with a space before it, it is text.`;
};
