import { limits } from '../../../kit/limits.ts';
import { estimatedTokens } from '../../../kit/token-estimate.ts';
import { staleness } from '../../values/expiry.ts';
import { queueModeLines, queueModes } from '../../values/queue-rule.ts';
import type { Settings } from '../../values/settings.ts';
import type { PromptPart } from '../../values/types.ts';
import { openQuestions } from '../answered.ts';
import type { SessionContext } from '../context.ts';
import type { SessionState } from '../fold/evolve.ts';
import type { ReportFacts } from '../report-facts.ts';

const number = (value: number): string => value.toLocaleString('en-US');
const count = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? '' : 's'}`;
const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The report at a time (ms), as text. Pure: the same state and facts give the same text. */
export const reportText = (facts: ReportFacts, state: SessionState, at: number): string => {
  const lines = linesOf(facts, state, at);
  const { warnings } = facts.kind === 'setting' || facts.kind === 'usage' ? { warnings: [] } : facts;
  return fitting([...lines, ...warnings.map((warning) => `Warning: ${warning}`)]).join('\n');
};

const linesOf = (facts: ReportFacts, state: SessionState, at: number): string[] => {
  switch (facts.kind) {
    case 'status':
      return statusLines(facts, state, at);
    case 'usage':
      return usageLines(facts, state);
    case 'setting':
      return settingLines(facts, state);
    case 'context_list':
    case 'context_detail':
      return contextLines(facts, state);
  }
};

/** Tokens and cost of this generation. */
const usageLines = (facts: ReportFacts, { machine: { context } }: SessionState): string[] => {
  const { usage, completedTurns, messages } = context;
  const cost =
    usage.costUsd > 0 ? `${usage.costUsd.toFixed(4)} US dollars, as reported by the provider` : 'not reported by the provider';
  return [
    `Model: ${modelOf(facts, context)}`,
    `Tokens: ${number(usage.totalTokens)}, of them ${number(usage.inputTokens)} input and ${number(usage.outputTokens)} output`,
    `Turns: ${number(completedTurns)}, messages: ${number(messages)}`,
    `Context: ${windowUse(facts, context)}`,
    `Cost: ${cost}`,
  ];
};

const queueModeChoices = [
  'Choices, for a message that arrives while a turn runs:',
  ...queueModes.map((mode) => `${mode}: ${queueModeLines[mode]}`),
];

const settingLines = (facts: ReportFacts, { machine: { context } }: SessionState): string[] => {
  if (facts.setting === undefined) return [];
  const { name, label, word, choices } = facts.setting;
  const configured: Partial<Record<keyof Settings, string | undefined>> = { model: facts.model, queueMode: facts.queueMode };
  const own = context.settings[name];
  const isFree = choices.length === 0;
  return [
    `${label}: ${own ?? (configured[name] === undefined ? (isFree ? 'none' : 'default') : `${configured[name]} (as configured)`)}`,
    ...(name === 'queueMode' ? queueModeChoices : isFree ? [] : [`Choices: ${choices.join(', ')}`]),
    `Change it with ${word} <${isFree ? 'text' : 'choice'}>; ${word} default ${isFree ? 'removes it' : 'makes it as configured'}.`,
  ];
};

/** The lines that fit into a notice, and how many do not. */
const fitting = (lines: readonly string[]): readonly string[] => {
  let room = limits.noticeCharacters - 64;
  const kept = lines.filter((line) => {
    room -= line.length + 1;
    return room >= 0;
  });
  return kept.length === lines.length ? kept : [...kept, `[${lines.length - kept.length} lines more do not fit here]`];
};

/** A session is not reset while its turn runs; a stale one is reset by its next message. */
const nextReset = ({ nextDaily, expiry }: ReportFacts, { machine: { context }, position }: SessionState, at: number): string => {
  const cause = expiry && context.turn === null ? staleness(expiry, position.interactedAt, at) : null;
  if (cause !== null) return 'with the next message';
  const idle = expiry?.idleMinutes;
  const resets = [nextDaily, idle && `${instant(position.interactedAt + idle * 60_000)} if nothing is said before`].filter(
    Boolean,
  );
  return resets.length === 0 ? 'never' : resets.join(', or ');
};

const statusLines = (facts: ReportFacts, state: SessionState, at: number): string[] => {
  const { value, context } = state.machine;
  const { settings, usage, spawned, review } = context;
  const description = settings.description ?? review.description;
  return [
    ...(settings.displayName === undefined ? [] : [`Name: ${settings.displayName}`]),
    `Agent: reachable. Model: ${modelOf(facts, context)}`,
    `Session: ${value.replaceAll('_', ' ')}, ${context.sessionId === '' ? 'none yet' : `generation ${context.generation}, ID ${context.sessionId}`}`,
    ...(description === '' ? [] : [`About: ${description}`]),
    ...(review.workingMemory === '' ? [] : [`Working memory: ${short(review.workingMemory)}`]),
    `Context: ${windowUse(facts, context)}; ${number(usage.totalTokens)} used in ${count(context.completedTurns, 'turn')}, ${count(context.messages, 'message')}`,
    ...(usage.costUsd > 0 ? [`Cost: ${usage.costUsd.toFixed(4)} US dollars, as reported by the provider`] : []),
    ...(context.compactions > 0 ? [`Compactions: ${context.compactions}`] : []),
    `Waiting: ${count(context.queue.length, 'message')}${queueModeIn(facts, settings)}`,
    ...openQuestions(context).map(
      ({ approvalId, expiresAt, action }) => `Approval pending: ${approvalId}, until ${instant(expiresAt)}: ${short(action)}`,
    ),
    ...(spawned.length > 0 ? [`Spawned runs: ${spawned.map(({ key }) => key).join(', ')}`] : []),
    // No chat command sets how much is told: it is shown where a program did.
    `Thinking: ${settings.thinkingLevel ?? 'default'}.${settings.verboseLevel === undefined ? '' : ` Verbose: ${settings.verboseLevel}.`} Sending: ${sendingWords[settings.sendPolicy ?? 'inherit']}`,
    ...(context.sessionId === '' ? [] : [`Next reset: ${nextReset(facts, state, at)}`]),
  ];
};

const queueModeIn = ({ queueMode }: ReportFacts, { queueMode: own = queueMode }: Settings): string =>
  own === undefined ? '' : `. One that arrives while a turn runs: ${queueModeLines[own]} (queue mode ${own})`;
const sendingWords = { allow: 'on', deny: 'off', inherit: 'as configured' } as const;
const modelOf = ({ model }: ReportFacts, { settings }: SessionContext): string => settings.model ?? model;
const short = (text: string): string => (text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()} …`);

/** How full the context window was at the last step, and whether the provider counted (A1/3). */
const windowUse = (facts: ReportFacts, context: SessionContext): string => {
  const { contextTokens, estimated } = context.usage;
  const windows = new Map(Object.entries(facts.windows ?? {}));
  const window = windows.get(modelOf(facts, context)) ?? facts.windowTokens;
  const share =
    window === undefined ? ' tokens' : ` of ${number(window)} tokens (${Math.round((100 * contextTokens) / window)}%)`;
  const counted = window === undefined || contextTokens === 0 ? '' : ', counted by the provider';
  return `${number(contextTokens)}${share}${estimated ? ', estimated' : counted}`;
};

/** The parts of the last step's prompt, or before the first step those that it would have (D4). */
const contextLines = (facts: ReportFacts, { machine: { context } }: SessionState): string[] => {
  const parts = context.prompt.length > 0 ? context.prompt : facts.parts;
  const total = parts.reduce((sum, { characters }) => sum + characters, 0);
  return [
    `System prompt: ${number(total)} characters, about ${number(estimatedTokens(total))} tokens, in ${parts.length} parts`,
    ...parts.toSorted(biggestFirst).map(sizeLine),
    ...toolLines(facts),
    ...skillLines(facts, context),
    `Conversation: ${count(context.messages, 'message')}, ${count(context.compactions, 'compaction')}; with the last model step the context was ${windowUse(facts, context)}`,
  ];
};

const biggestFirst = (one: PromptPart, other: PromptPart): number => other.characters - one.characters;
const sizeLine = ({ name, characters }: PromptPart): string =>
  `- ${name}: ${number(characters)} characters, about ${number(estimatedTokens(characters))} tokens`;

/** All tools by name, and in detail each with its size (D4). */
const toolLines = ({ kind, tools }: ReportFacts): string[] => {
  if (tools === undefined) return [];
  if (tools.length === 0) return ['Tools: none'];
  if (kind === 'context_detail') return [`Tools: ${tools.length}`, ...tools.toSorted(biggestFirst).map(sizeLine)];
  return [`Tools: ${tools.map(({ name }) => name).join(', ')}`];
};

/** The skills that the model saw last, or would see next. In detail each with its version (A15/166). */
const skillLines = ({ kind, skills: next = [] }: ReportFacts, { skills: seen }: SessionContext): string[] => {
  const skills = seen.length > 0 ? seen : next;
  if (skills.length === 0) return [];
  const names = skills.map(({ name, digest }) => (kind === 'context_detail' ? `${name} (${digest.slice(0, 12)})` : name));
  return [`Skills: ${names.join(', ')}`];
};
