import type { AssistantMessage, Message, ToolMessage } from '@ag-ui/core';
import type { RunEvent } from '../../runs/run-event-stream.ts';
import type { HistoryEntry } from '../../runs/run-history.ts';

/** What was said in a thread as AG-UI's messages, as its client would have made them of the streams, under the same ids. */
export const aguiMessages = (entries: readonly HistoryEntry[]): Message[] =>
  entries.flatMap((entry): Message[] =>
    entry.kind === 'said'
      ? [{ id: entry.id, role: 'user', content: entry.text }]
      : answerOf(entry.events.map(({ event }) => event)),
  );

const answerOf = (events: readonly RunEvent[]): Message[] => {
  const messages: (AssistantMessage | ToolMessage)[] = [];
  const assistant = (id: string): AssistantMessage => {
    const known = messages.find((message) => message.id === id);
    if (known?.role === 'assistant') return known;
    const begun: AssistantMessage = { id, role: 'assistant' };
    messages.push(begun);
    return begun;
  };
  for (const event of events) {
    switch (event.type) {
      case 'text': {
        const message = assistant(event.messageId);
        message.content = (message.content ?? '') + event.text;
        break;
      }
      case 'call': {
        const { callId: id, tool: name, arguments: given, messageId } = event;
        const message = assistant(messageId);
        message.toolCalls = [...(message.toolCalls ?? []), { id, type: 'function', function: { name, arguments: given } }];
        break;
      }
      case 'result':
        messages.push(resultMessage(event));
        break;
      default:
        break;
    }
  }
  return messages;
};

/** The message of a call's result. */
export const resultMessage = ({
  callId: toolCallId,
  text: content,
  outcome,
}: Extract<RunEvent, { type: 'result' }>): ToolMessage => {
  return { id: `${toolCallId}:result`, role: 'tool', toolCallId, content, metadata: { outcome } };
};
