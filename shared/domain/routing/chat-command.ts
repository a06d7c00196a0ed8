import { limits } from '../../kit/limits.ts';

/** The commands people type in a chat: A4/53, A5/62, A7/81, A9/94–95, A11/123–126. Parsed once; the answers are in `chat-answer.ts`. */

/** What somebody asks of Natter itself and not of the model. */
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
  /** An answer to an approval that cannot be understood. */
  | { readonly type: 'misspelt'; readonly word: '/approve' | '/deny' };

/** Always there; `session.resetTriggers` adds to them (C17). */
const resetWords = ['/new', '/reset'] as const;

/** Commands that must be the whole message (A9/95, C13); a longer text with one in front is for the model. */
const standalone: ReadonlyMap<string, ChatCommand> = new Map<string, ChatCommand>([
  ['/stop', { type: 'stop' }],
  ['/status', { type: 'status' }],
  ['/checkpoint', { type: 'checkpoint' }],
  ['/context', { type: 'context', kind: 'list' }],
  ['/context list', { type: 'context', kind: 'list' }],
  ['/context detail', { type: 'context', kind: 'detail' }],
  ['/send on', { type: 'send', value: 'on' }],
  ['/send off', { type: 'send', value: 'off' }],
  ['/send inherit', { type: 'send', value: 'inherit' }],
]);

/** Commands that go on with words of their own. What begins like an answer to an approval is never for the model. */
const worded: ReadonlyMap<string, (rest: string) => ChatCommand> = new Map<string, (rest: string) => ChatCommand>([
  ['/compact', (instructions) => ({ type: 'compact', instructions })],
  ['/approve', (rest) => approvalIn(rest)],
  ['/deny', (rest) => denialIn(rest)],
]);

/**
 * The command a message is, or `null` when it is an ordinary text. Case does not matter in the command's word. `triggers` are the
 * configuration's further reset words. `names` are the agent's: one may stand in front (`@natter /new`, `natter: /stop`) or behind the
 * word as Telegram writes it (`/new@natter`); a command for another name is none of ours.
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

/** The words of Natter's own commands, without `/`: no skill is called by one of them (A15/148). */
export const reservedCommands = (triggers: readonly string[]): ReadonlySet<string> =>
  new Set(
    ['/skill', ...resetWords, ...standalone.keys(), ...worded.keys(), ...triggers].flatMap(
      (words) => /^\/(\S+)/u.exec(words.trim())?.[1]?.toLowerCase() ?? [],
    ),
  );

/**
 * The skill that a message calls, by whatever name it gives: `/<name> …` or `/skill <name> …` (A15/148). Only who knows the skills can tell
 * whether there is one; else it is an ordinary text.
 */
export const skillCallIn = (
  text: string,
  names: readonly string[] = [],
): { readonly name: string; readonly rest: string } | null => {
  const said = withoutSuffix(withoutMention(text.trim(), names), names);
  const [, name = '', rest = ''] = /^\/(?:skill\s+\/?)?([^\s/]{1,64})(?:\s+(.*))?$/isu.exec(said) ?? [];
  return name === '' ? null : { name, rest: rest.trim() };
};

/** False: whatever the agent is called and skills there are, this calls none. */
export const mayCallSkill = (text: string): boolean => /(^|\s)\/[^\s/]/u.test(text.slice(0, 200));

/** The longest command that stands alone, with room for white space between its words. */
const standaloneCharacters = 64;
const standaloneIn = (said: string): ChatCommand | null =>
  said.length > standaloneCharacters ? null : (standalone.get(said.toLowerCase().split(/\s+/u).join(' ')) ?? null);

const wordedIn = (said: string): ChatCommand | null => {
  const [word = ''] = said.split(/\s/u, 1);
  return worded.get(word.toLowerCase())?.(said.slice(word.length).trim()) ?? null;
};

/** `ID`, `ID once` or `ID always`. Ids of approvals have no capitals, so that people may write them as they like (A5/62). */
const approvalIn = (rest: string): ChatCommand => {
  const [approvalId = '', scope = 'once', ...more] = rest.toLowerCase().split(/\s+/u, 3);
  const isClear = isId(approvalId) && (scope === 'once' || scope === 'always') && more.length === 0;
  return isClear ? { type: 'approve', approvalId, scope } : { type: 'misspelt', word: '/approve' };
};

/** `ID`, and a reason that the model is told. */
const denialIn = (rest: string): ChatCommand => {
  const [id = ''] = rest.split(/\s/u, 1);
  return isId(id)
    ? { type: 'deny', approvalId: id.toLowerCase(), reason: rest.slice(id.length).trim() }
    : { type: 'misspelt', word: '/deny' };
};

const isId = (word: string): boolean => /^[\x21-\x7e]+$/.test(word) && word.length <= limits.idCharacters;

/** The longest trigger that the text is or begins with as a word (A4/53). */
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
