import { z } from 'zod';
import type { SessionState } from './evolve.ts';

/** What the router knows for a report and the session does not: the configuration's side of `/status` and `/context` (A11/123–124). */
export const reportFacts = z.object({
  kind: z.enum(['status', 'context_list', 'context_detail']),
  model: z.string().max(256),
  /** What the system prompt is made of, and how long each part is. */
  parts: z.array(z.object({ name: z.string().max(128), characters: z.int().min(0) })).max(200),
  /** The next daily reset as people read it, and the idle window. */
  nextDaily: z.string().max(64).optional(),
  idleMinutes: z.number().optional(),
  /** Dangers of this configuration that people should know of. */
  warnings: z.array(z.string().max(500)).max(20),
});
export type ReportFacts = z.infer<typeof reportFacts>;

const number = (value: number): string => value.toLocaleString('en-US');
/** A provider counts tokens itself; this is for texts it has not seen. */
const estimatedTokens = (characters: number): number => Math.ceil(characters / 4);
const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The report as one text. Pure: the same state and facts give the same words. */
export const reportText = (facts: ReportFacts, state: SessionState): string => {
  const lines = facts.kind === 'status' ? statusLines(facts, state) : contextLines(facts, state);
  return [...lines, ...facts.warnings.map((warning) => `Warning: ${warning}`)].join('\n');
};

const statusLines = (facts: ReportFacts, { machine: { value, context }, position }: SessionState): string[] => {
  const { settings, usage } = context;
  const idleEndAt = facts.idleMinutes === undefined ? null : position.interactedAt + facts.idleMinutes * 60_000;
  const resets = [facts.nextDaily, idleEndAt === null ? undefined : `${instant(idleEndAt)} if idle`].filter(
    (part) => part !== undefined,
  );
  return [
    `Agent: reachable. Model: ${settings.model ?? facts.model}`,
    `Session: ${context.sessionId === '' ? 'none yet' : `${context.sessionId} (generation ${context.generation})`}, ${value.replace('_', ' ')}`,
    `Context: ${number(usage.contextTokens)} tokens; ${number(usage.totalTokens)} used in ${number(context.completedTurns)} turns, ${number(context.messages)} messages`,
    `Waiting: ${context.queue.length}`,
    `Thinking: ${settings.thinkingLevel ?? 'default'}. Verbose: ${settings.verboseLevel ?? 'default'}. Sending: ${settings.sendPolicy ?? 'inherit'}`,
    `Next reset: ${resets.length === 0 ? 'never' : resets.join(', or ')}`,
  ];
};

const contextLines = ({ kind, parts }: ReportFacts, { machine: { context } }: SessionState): string[] => {
  const biggestFirst = parts.toSorted((a, b) => b.characters - a.characters);
  const shown = kind === 'context_list' ? biggestFirst.slice(0, 5) : biggestFirst;
  const total = parts.reduce((sum, { characters }) => sum + characters, 0);
  return [
    `System prompt: ${number(total)} characters, about ${number(estimatedTokens(total))} tokens, in ${parts.length} parts`,
    ...shown.map(
      ({ name, characters }) =>
        `- ${name}: ${number(characters)} characters, about ${number(estimatedTokens(characters))} tokens`,
    ),
    ...(shown.length < parts.length ? [`- ${parts.length - shown.length} smaller ones; see /context detail`] : []),
    `Conversation: ${number(context.messages)} messages; the last model step used ${number(context.usage.contextTokens)} tokens in all`,
  ];
};
