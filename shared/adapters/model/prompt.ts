import type { LanguageModel } from 'ai';
import type { ModelMessage, ModelRequest } from '../../domain/prompt/model-request.ts';
import type { ToolCall } from '../../domain/values/types.ts';

/** A language model as the AI SDK's providers make it: one call, one step. */
export type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v3' }>;
export type CallOptions = Parameters<ProviderModel['doStream']>[0];
type SdkMessage = CallOptions['prompt'][number];
type SdkAssistant = Extract<SdkMessage, { role: 'assistant' }>['content'][number];

/** What of a step's request goes to the provider. */
export const callOptions = ({ system, messages, tools, thinkingLevel }: ModelRequest): Omit<CallOptions, 'abortSignal'> => ({
  prompt: [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...toSdk(messages)],
  tools: tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, inputSchema: parameters })),
  ...(isEffort(thinkingLevel) && {
    providerOptions: { openaiCompatible: { reasoningEffort: thinkingLevel }, anthropic: { effort: thinkingLevel } },
  }),
});

/** The levels that both kinds of providers know. Any other is left to the model. */
const isEffort = (level: string | undefined): level is string => ['low', 'medium', 'high'].includes(level ?? '');

/** The conversation as the provider wants it; in a group each person's name stands before the text. */
const toSdk = (messages: readonly ModelMessage[]): SdkMessage[] => {
  const named = messages.flatMap((message) => (message.role === 'user' && message.name !== undefined ? [message.name] : []));
  const isGroup = new Set(named).size > 1;
  const ids = shortIds(messages);
  return messages.flatMap((message) => sdkMessage(message, ids, isGroup) ?? []);
};

/** `null`: there is nothing in it that a provider could be told. */
const sdkMessage = (message: ModelMessage, ids: ReadonlyMap<string, string>, isGroup: boolean): SdkMessage | null => {
  switch (message.role) {
    case 'user': {
      const text = isGroup && message.name !== undefined ? `${message.name}: ${message.text}` : message.text;
      // Providers refuse a message without a word.
      return { role: 'user', content: [{ type: 'text', text: text.trim() === '' ? '(nothing)' : text }] };
    }
    case 'assistant': {
      const content = assistantParts(message.text, message.calls ?? [], ids);
      return content.length === 0 ? null : { role: 'assistant', content };
    }
    case 'tool': {
      const { callId, tool: toolName, outcome, text } = message;
      const toolCallId = ids.get(callId);
      if (toolCallId === undefined) return null;
      const output =
        outcome === 'ok' ? { type: 'text' as const, value: text } : { type: 'error-text' as const, value: `${outcome}: ${text}` };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
    }
  }
};

const assistantParts = (text: string, calls: readonly ToolCall[], ids: ReadonlyMap<string, string>): SdkAssistant[] => [
  ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
  ...calls.map(({ callId, tool, arguments: written }) => ({
    type: 'tool-call' as const,
    toolCallId: ids.get(callId) ?? callId,
    toolName: tool,
    input: inputOf(written),
  })),
];

/** Providers limit the length of a call's id, and ours is longer. */
const shortIds = (messages: readonly ModelMessage[]): ReadonlyMap<string, string> => {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.calls ?? []) : []));
  return new Map(calls.map(({ callId }, index) => [callId, `call_${index + 1}`]));
};

/** Providers take an object only. What the model wrote instead of one is shown to it as a text. */
const inputOf = (written: string): unknown => {
  try {
    const value: unknown = JSON.parse(written);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // It stays a text.
  }
  return { malformed: written };
};
