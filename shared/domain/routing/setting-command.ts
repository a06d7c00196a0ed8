import { limits } from '../../kit/limits.ts';
import { resolveModel } from '../config/model-name.ts';
import type { Config } from '../config/schema.ts';
import { suggest } from '../config/suggest.ts';
import type { SessionCommand } from '../session/commands.ts';
import { thinkingLevels } from '../values/levels.ts';
import { queueModes } from '../values/queue-rule.ts';
import { activations, type Settings } from '../values/settings.ts';
import type { ChatCommandContext } from './chat-answer.ts';
import type { ChatCommand } from './chat-command.ts';
import { noticeCommand, noticeOf, ownersAlone } from './chat-notice.ts';
import { factsOf } from './report-facts.ts';

/** Chat commands that set one thing for a session (B25): alone they show it, `default` makes it follow the configuration again. */

interface Setting {
  readonly name: keyof Settings;
  readonly label: string;
  /** What can be chosen, in the configuration at hand. */
  choices(config: Config): readonly string[];
  /** The value that a text means, or what is wrong with it. */
  read(
    text: string,
    config: Config,
  ): { readonly value: string /** What is to be said of it. */; readonly caution?: string } | { readonly problem: string };
}

/** One word of a list; another one is refused with the list (D11). */
const oneOf = (name: keyof Settings, label: string, words: readonly string[]): Setting => ({
  ...{ name, label },
  choices: () => words,
  read: (text) => {
    const word = text.toLowerCase();
    if (words.includes(word)) return { value: word };
    const near = suggest(word, words);
    return { problem: `"${short(text)}" is none of ${words.join(', ')}.${near === null ? '' : ` Did you mean ${near}?`}` };
  },
});

const nameCharacters = 256;

/** Providers offer more models than the configuration names. */
const isNamed = (model: string, { agent, model: { aliases, providers } }: Config): boolean => {
  const [provider = '', ...rest] = model.split('/');
  const own = Object.hasOwn(providers, provider) ? (providers[provider]?.models ?? []) : [];
  return model === agent.model || Object.values(aliases).includes(model) || own.includes(rest.join('/'));
};
const notChecked =
  '(the configuration does not name it, so it was not checked; /model lists those it names, /model default goes back)';

const settingsByWord = {
  '/model': {
    ...{ name: 'model', label: 'Model' },
    choices: ({ agent, model }: Config) => [
      ...Object.keys(model.aliases),
      ...new Set([
        agent.model,
        ...Object.entries(model.providers).flatMap(([name, { models }]) => models.map((own) => `${name}/${own}`)),
      ]),
    ],
    read: (text: string, config: Config) => {
      const named = text === config.agent.model ? { model: text } : resolveModel(text, config);
      if (named !== null && 'model' in named)
        return isNamed(named.model, config) ? { value: named.model } : { value: named.model, caution: notChecked };
      if (named === null || 'unknown' in named) return { problem: `there is no model "${short(text)}". /model lists them.` };
      if (named.ambiguous.length === 0)
        return { problem: `"${short(text)}" could be any model of this provider. Write its name.` };
      return {
        problem: `"${short(text)}" names no single model; near it: ${named.ambiguous.join(', ')}. Write one of these names.`,
      };
    },
  },
  '/think': oneOf('thinkingLevel', 'Thinking', thinkingLevels),
  '/queue': oneOf('queueMode', 'Queue mode', queueModes),
  '/activation': oneOf('activation', 'Activation in a group', activations),
  '/name': {
    ...{ name: 'displayName', label: 'Name' },
    choices: () => [],
    read: (text: string) =>
      text.length <= nameCharacters ? { value: text } : { problem: `a name has at most ${nameCharacters} characters.` },
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** The words of these commands. */
export type SettingWord = keyof typeof settingsByWord;
export const settingWords = Object.keys(settingsByWord) as readonly SettingWord[];

const short = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 60).toWellFormed()}…`);

/** Shows or changes the setting that the command names; only the owner changes one in a session of several people (D7). */
export const settingCommand = (
  { word, value: text }: ChatCommand & { type: 'set' },
  context: ChatCommandContext,
): SessionCommand => {
  const { name, label, ...setting }: Setting = settingsByWord[word];
  const { config, mayChange } = context;
  if (text === '') {
    const choices = setting
      .choices(config)
      .slice(0, limits.namedChoices)
      .map((choice) => choice.slice(0, nameCharacters));
    const facts = { ...factsOf('setting', context), setting: { name, label, word, choices } };
    return { type: 'report', facts, notice: noticeOf('setting', context) };
  }
  if (!mayChange) return ownersAlone(word, context);
  if (text.toLowerCase() === 'default') return changing(name, null, `${label}: as configured.`, context);
  const read = setting.read(text, config);
  if ('problem' in read) return noticeCommand('setting_unknown', `Nothing was changed: ${read.problem}`, context);
  const caution = read.caution === undefined ? '' : ` ${read.caution}`;
  return changing(name, read.value, `${label}: ${read.value}${caution}`, context);
};

const changing = (name: keyof Settings, value: string | null, text: string, context: ChatCommandContext): SessionCommand => ({
  type: 'patch_session',
  settings: { [name]: value },
  notice: { ...noticeOf('setting_changed', context), text },
});
