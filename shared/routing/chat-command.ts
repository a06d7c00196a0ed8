/** The commands people type in a chat: A4/53, A9/94–95, A11/123–125. Parsed once, by the router; the answers are in `chat-answer.ts`. */

/** What somebody asks of Natter itself and not of the model. */
export type ChatCommand =
  | { readonly type: 'reset'; readonly word: string; readonly rest: string }
  | { readonly type: 'stop' }
  | { readonly type: 'status' }
  | { readonly type: 'context'; readonly kind: 'list' | 'detail' }
  | { readonly type: 'send'; readonly value: 'on' | 'off' | 'inherit' };

/** Always there; `session.resetTriggers` adds to them (C17). */
const resetWords = ['/new', '/reset'] as const;

/** Commands that must be the whole message (A9/95, C13); a longer text with one in front is for the model. */
const standalone: ReadonlyMap<string, ChatCommand> = new Map<string, ChatCommand>([
  ['/stop', { type: 'stop' }],
  ['/status', { type: 'status' }],
  ['/context', { type: 'context', kind: 'list' }],
  ['/context list', { type: 'context', kind: 'list' }],
  ['/context detail', { type: 'context', kind: 'detail' }],
  ['/send on', { type: 'send', value: 'on' }],
  ['/send off', { type: 'send', value: 'off' }],
  ['/send inherit', { type: 'send', value: 'inherit' }],
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
  return standaloneIn(command) ?? resetIn(command, [...resetWords, ...triggers]);
};

/** The longest command that stands alone, with room for white space between its words. */
const standaloneCharacters = 64;
const standaloneIn = (said: string): ChatCommand | null =>
  said.length > standaloneCharacters ? null : (standalone.get(said.toLowerCase().split(/\s+/u).join(' ')) ?? null);

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
  const [, word = '', name = ''] = /^(\/[a-z]{1,16})@(\S{1,64})(?=\s|$)/iu.exec(said) ?? [];
  const isOurs = names.some((own) => bare(own).toLowerCase() === name.toLowerCase());
  return word !== '' && isOurs ? word + said.slice(word.length + 1 + name.length) : said;
};
