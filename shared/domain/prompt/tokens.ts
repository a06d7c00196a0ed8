import { charactersPerToken, estimatedTokens, estimateTokens } from '../../kit/token-estimate.ts';
import type { TurnView } from './conversation-message.ts';
import { fileTokens } from './given-files.ts';
import type { ModelMessage, ToolSpec } from './model-request.ts';

/** Characters of a message as a provider gets it, with an allowance for its envelope. */
export const messageCharacters = (message: ModelMessage): number => {
  const around = 16;
  if (message.role === 'user') {
    const files = (message.files ?? []).reduce((sum, file) => sum + fileTokens(file), 0);
    return around + message.text.length + files * charactersPerToken;
  }
  if (message.role === 'tool') return around + message.text.length;
  const calls = (message.calls ?? []).reduce((sum, call) => sum + around + call.tool.length + call.arguments.length, 0);
  return around + message.text.length + calls;
};

export const messagesTokens = (messages: readonly ModelMessage[]): number =>
  estimatedTokens(messages.reduce((sum, message) => sum + messageCharacters(message), 0));

/** The tools that have been counted: each step of each turn counts the same ones. */
const countedTools = new WeakMap<ToolSpec, number>();

/** Characters of a tool's definition. */
export const toolCharacters = (tool: ToolSpec): number => {
  const { name, description, parameters } = tool;
  const characters = countedTools.get(tool) ?? name.length + description.length + JSON.stringify(parameters).length;
  countedTools.set(tool, characters);
  return characters;
};

interface Asked {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
}

/** The estimated tokens of a whole request. */
export const contextTokens = ({ system, messages, tools }: Asked): number =>
  estimateTokens(system) + messagesTokens(messages) + estimatedTokens(tools.reduce((sum, tool) => sum + toolCharacters(tool), 0));

/** The input tokens of the next step: what the provider counted last, plus an estimate for the messages since (A1/3). */
export const nextStepTokens = (
  { said, counted }: Pick<TurnView, 'said' | 'counted'>,
  rest: Pick<Asked, 'system' | 'tools'>,
): { readonly tokens: number; readonly estimated: boolean } => {
  const since = messagesTokens(said.slice(counted?.messages ?? 0).map(({ message }) => message));
  if (counted !== null) return { tokens: counted.tokens + since, estimated: false };
  return { tokens: contextTokens({ ...rest, messages: [] }) + since, estimated: true };
};

/** Tokens of a window that are available to a request, so that an answer fits too; at least half of the window. */
export const roomTokens = ({ windowTokens, reserveTokens }: { windowTokens: number; reserveTokens: number }): number =>
  windowTokens - Math.min(reserveTokens, Math.floor(windowTokens / 2));
