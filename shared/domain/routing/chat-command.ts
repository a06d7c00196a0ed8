import { limits } from '../../kit/limits.ts';
import { type SettingWord, settingWords } from './setting-command.ts';

/**
 * Parses the commands that people type in a chat (A4/53, A5/62, A7/81, A9/94–95, A11/123–126, B25, D8). The answers are in
 * `chat-answer.ts`.
 */

/** A request to Natter itself rather than to the model. */
export type ChatCommand =
  | { readonly type: 'reset'; readonly word: string; readonly rest: string }
  | { readonly type: 'stop' }
  | { readonly type: 'status' }
  | { readonly type: 'context'; readonly kind: 'list' | 'detail' }
  | { readonly type: 'send'; readonly value: 'on' | 'off' | 'inherit' }
  | { readonly type: 'compact'; readonly instructions: string }
  | { readonly type: 'checkpoint' }
  | { readonly type: 'approve'; readonly approvalId: string; readonly scope: 'once' | 'always' }
  | { readonly type: 'deny'; readonly approvalId: string; readonly reason: string }
  | { readonly type: 'pair'; readonly code: string }
  | { readonly type: 'help' }
  | { readonly type: 'usage' }
  | { readonly type: 'export' }
  /** `value` is empty: show it. */
  | { readonly type: 'set'; readonly word: SettingWord; readonly value: string }
  /** A malformed answer to an approval. */
  | { readonly type: 'misspelt'; readonly word: '/approve' | '/deny' };

/** Always available; `session.resetTriggers` adds to them (C17). */
const resetWords = ['/new', '/reset'] as const;

/** Commands that must be the whole message (A9/95, C13); a longer text that starts with one goes to the model. */
const standalone: ReadonlyMap<string, ChatCommand> = new Map<string, ChatCommand>([
  ['/stop', { type: 'stop' }],
  ['/status', { type: 'status' }],
  ['/checkpoint', { type: 'checkpoint' }],
  ['/help', { type: 'help' }],
  ['/usage', { type: 'usage' }],
  ['/context', { type: 'context', kind: 'list' }],
  ['/context list', { type: 'context', kind: 'list' }],
  ['/context detail', { type: 'context', kind: 'detail' }],
  ['/send on', { type: 'send', value: 'on' }],
  ['/send off', { type: 'send', value: 'off' }],
  ['/send inherit', { type: 'send', value: 'inherit' }],
]);

/** Commands with free text. Text that starts like an answer to an approval never goes to the model. */
const worded: ReadonlyMap<string, (rest: string) => ChatCommand> = new Map<string, (rest: string) => ChatCommand>([
  ['/compact', (instructions) => ({ type: 'compact', instructions })],
  ['/approve', (rest) => approvalIn(rest)],
  ['/deny', (rest) => denialIn(rest)],
  ['/pair', (code) => ({ type: 'pair', code })],
  ['/export', () => ({ type: 'export' })],
  ...settingWords.map((word) => [word, (value: string): ChatCommand => ({ type: 'set', word, value })] as const),
]);

/**
 * The chat command in a message, or `null` for ordinary text. Case does not matter in the command word. `triggers` are the
 * configuration's further reset words. `names` are the agent's: one may come first (`@natter /new`, `natter: /stop`) or follow
 * the word as Telegram writes it (`/new@natter`); a command for another name is not ours.
 */
export const chatCommandIn = (
  text: string,
  { triggers, names = [] }: { readonly triggers: readonly string[]; readonly names?: readonly string[] },
): ChatCommand | null => {
  const said = withoutMention(text.trim(), names);
  if (!said.startsWith('/')) return resetIn(said, triggers);
  const command = withoutSuffix(said, names);
  return standaloneIn(command) ?? wordedIn(command) ?? resetIn(command, [...resetWords, ...triggers]);
};

/** The words of Natter's own commands, without `/`. A skill cannot use them as its command (A15/148). */
export const reservedCommands = (triggers: readonly string[]): ReadonlySet<string> =>
  new Set(
    ['/skill', ...resetWords, ...standalone.keys(), ...worded.keys(), ...triggers].flatMap(
      (words) => /^\/(\S+)/u.exec(words.trim())?.[1]?.toLowerCase() ?? [],
    ),
  );

/**
 * The skill that a message calls: `/<name> …` or `/skill <name> …` (A15/148). Whether such a skill exists is for the caller to
 * check; if not, the message is ordinary text.
 */
export const skillCallIn = (
  text: string,
  names: readonly string[] = [],
): { readonly name: string; readonly rest: string } | null => {
  const said = withoutSuffix(withoutMention(text.trim(), names), names);
  const [, name = '', rest = ''] = /^\/(?:skill\s+\/?)?([^\s/]{1,64})(?:\s+(.*))?$/isu.exec(said) ?? [];
  return name === '' ? null : { name, rest: rest.trim() };
};

/** A cheap pre-check: false if no agent name or skill could make this text call a skill. */
export const mayCallSkill = (text: string): boolean => /(^|\s)\/[^\s/]/u.test(text.slice(0, 200));

/** Bounds the length of a standalone command, with room for extra white space. */
const standaloneCharacters = 64;
const standaloneIn = (said: string): ChatCommand | null =>
  said.length > standaloneCharacters ? null : (standalone.get(said.toLowerCase().split(/\s+/u).join(' ')) ?? null);

const wordedIn = (said: string): ChatCommand | null => {
  const [word = ''] = said.split(/\s/u, 1);
  return worded.get(word.toLowerCase())?.(said.slice(word.length).trim()) ?? null;
};

/** `ID`, `ID once` or `ID always`. Approval ids have no capitals, so that people may write them in any case (A5/62). */
const approvalIn = (rest: string): ChatCommand => {
  const [approvalId = '', scope = 'once', ...more] = rest.toLowerCase().split(/\s+/u, 3);
  const isClear = isId(approvalId) && (scope === 'once' || scope === 'always') && more.length === 0;
  return isClear ? { type: 'approve', approvalId, scope } : { type: 'misspelt', word: '/approve' };
};

/** `ID`, and a reason for the model. */
const denialIn = (rest: string): ChatCommand => {
  const [id = ''] = rest.split(/\s/u, 1);
  return isId(id)
    ? { type: 'deny', approvalId: id.toLowerCase(), reason: rest.slice(id.length).trim() }
    : { type: 'misspelt', word: '/deny' };
};

const isId = (word: string): boolean => /^[\x21-\x7e]+$/.test(word) && word.length <= limits.idCharacters;

/** The longest trigger that the text equals or starts with as a word (A4/53). */
const resetIn = (said: string, triggers: readonly string[]): ChatCommand | null => {
  const word = triggers
    .map((trigger) => trigger.trim())
    .filter((trigger) => startsWith(said, trigger) && /^(\s|$)/u.test(said.slice(trigger.length, trigger.length + 1)))
    .reduce((longest, trigger) => (trigger.length > longest.length ? trigger : longest), '');
  return word === '' ? null : { type: 'reset', word, rest: said.slice(word.length).trim() };
};

const startsWith = (text: string, start: string): boolean => text.slice(0, start.length).toLowerCase() === start.toLowerCase();

const bare = (name: string): string => (name.startsWith('@') ? name.slice(1) : name);

const withoutMention = (text: string, names: readonly string[]): string => {
  const called = bare(text);
  for (const name of names.map(bare)) {
    if (name === '' || !startsWith(called, name)) continue;
    const rest = called.slice(name.length);
    if (/^[:,]?\s/u.test(rest)) return rest.replace(/^[:,]?\s+/u, '');
  }
  return text;
};

const withoutSuffix = (said: string, names: readonly string[]): string => {
  const [, word = '', name = ''] = /^(\/[a-z][\w-]{0,63})@(\S{1,64})(?=\s|$)/iu.exec(said) ?? [];
  const isOurs = names.some((own) => bare(own).toLowerCase() === name.toLowerCase());
  return word !== '' && isOurs ? word + said.slice(word.length + 1 + name.length) : said;
};
