import type { LanguageModel } from 'ai';
import { areSeveral } from '../../domain/prompt/conversation-message.ts';
import type { ModelFile, ModelMessage, ModelRequest, SignedReasoning } from '../../domain/prompt/model-request.ts';
import { isTextFile } from '../../domain/values/media-type.ts';
import type { ToolCall } from '../../domain/values/types.ts';
import { mergedOptions, providerSettings, sdkSettings } from './settings.ts';

/** A language model of the AI SDK's provider interface: one call is one step. */
export type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v3' }>;
export type CallOptions = Parameters<ProviderModel['doStream']>[0];
type SdkMessage = CallOptions['prompt'][number];
type SdkUser = Extract<SdkMessage, { role: 'user' }>['content'][number];
type SdkAssistant = Extract<SdkMessage, { role: 'assistant' }>['content'][number];

/** The parts of a request that go to the provider. */
export const callOptions = (
  { system, messages, tools, thinkingLevel, settings }: ModelRequest,
  providerName = 'openaiCompatible',
): Omit<CallOptions, 'abortSignal'> => ({
  prompt: [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...toSdk(messages, providerName)],
  tools: tools.map(({ name, description, parameters, strict }) => ({
    ...{ type: 'function', name, description, inputSchema: parameters },
    ...(strict !== undefined && { strict }),
  })),
  ...sdkSettings(settings ?? {}),
  providerOptions: mergedOptions(effortOf(settings?.effort ?? thinkingLevel), providerSettings(settings ?? {}, providerName)),
});

/** The levels that both kinds of providers know, by ours. With any other, also `off`, the model's default applies. */
const efforts: ReadonlyMap<string, string> = new Map(
  Object.entries({ minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' }),
);
const effortOf = (level = ''): NonNullable<CallOptions['providerOptions']> => {
  const effort = efforts.get(level);
  return effort === undefined ? {} : { openaiCompatible: { reasoningEffort: effort }, anthropic: { effort } };
};

/** The conversation in the provider's format; in a group each text starts with its sender's name. */
const toSdk = (messages: readonly ModelMessage[], providerName: string): SdkMessage[] => {
  const named = messages.flatMap((message) => (message.role === 'user' && message.name !== undefined ? [message.name] : []));
  const isGroup = areSeveral(named);
  const ids = shortIds(messages);
  return messages.flatMap((message) => sdkMessage(message, { ids, isGroup, providerName }) ?? []);
};

/** `null` if nothing in it can be sent to a provider. */
const sdkMessage = (
  message: ModelMessage,
  { ids, isGroup, providerName }: { ids: ReadonlyMap<string, string>; isGroup: boolean; providerName: string },
): SdkMessage | null => {
  switch (message.role) {
    case 'user': {
      const text = isGroup && message.name !== undefined ? `${message.name}: ${message.text}` : message.text;
      // Providers refuse an empty message.
      const said = { type: 'text' as const, text: text.trim() === '' ? '(nothing)' : text };
      return { role: 'user', content: [said, ...(message.files ?? []).flatMap((file) => filePart(file) ?? [])] };
    }
    case 'assistant': {
      const content = [
        ...reasoningParts(message.reasoning, providerName),
        ...assistantParts(message.text, message.calls ?? [], ids),
      ];
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

/** A text is told as one, since not every provider takes it as a file. `null`: its content was not loaded. */
const filePart = ({ type, name, content }: ModelFile): SdkUser | null => {
  if (content === undefined) return null;
  if (!isTextFile(type)) return { type: 'file', mediaType: type, data: content, ...(name !== undefined && { filename: name }) };
  return { type: 'text', text: `[Content of ${name ?? 'the file'}]\n${Buffer.from(content).toString()}` };
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

/** What a provider signed goes back to it alone; another would take it for words of its own model. */
const reasoningParts = (reasoning: SignedReasoning | undefined, providerName: string): SdkAssistant[] =>
  reasoning === undefined || reasoning.model.split('/')[0] !== providerName
    ? []
    : reasoning.parts.map(({ text, signature, redacted }) => ({
        ...{ type: 'reasoning' as const, text },
        providerOptions: {
          anthropic: { ...(signature !== undefined && { signature }), ...(redacted !== undefined && { redactedData: redacted }) },
        },
      }));

/** Providers limit the length of call ids, and ours are longer. */
const shortIds = (messages: readonly ModelMessage[]): ReadonlyMap<string, string> => {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.calls ?? []) : []));
  return new Map(calls.map(({ callId }, index) => [callId, `call_${index + 1}`]));
};

/** Providers accept only an object. Anything else that the model wrote is shown to it as text. */
const inputOf = (written: string): unknown => {
  try {
    const value: unknown = JSON.parse(written);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Falls through to the text.
  }
  return { malformed: written };
};
