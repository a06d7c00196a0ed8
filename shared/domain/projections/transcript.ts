import type { RecordedCommit } from '../session/envelope.ts';
import type { EventOf } from '../session/events.ts';
import type { Sender } from '../values/types.ts';
import type { TranscriptMessage } from './schemas.ts';

/** Turns commits into transcript messages (A10/116). */

const textOf = (text: string): TranscriptMessage['content'] => [{ type: 'text', text }];

/** The content of a step with tool calls: its text and its calls. */
const calling = ({ text, calls = [] }: EventOf<'model_step'>): TranscriptMessage['content'] => [
  ...(text === '' ? [] : textOf(text)),
  ...calls.map((call) => ({ type: 'toolCall' as const, id: call.callId, name: call.tool, arguments: call.arguments })),
];

const nameOf = ({ id, name }: Sender) => ({ id, ...(name !== undefined && { name }) });

const revisedBy = ({ messageId, by }: EventOf<'message_edited' | 'message_withdrawn'>) => ({ messageId, sender: nameOf(by) });

/** The messages of one commit, oldest first. An answer carries the model and usage of its step. */
export const transcriptMessages = ({ events, seq, at }: RecordedCommit): TranscriptMessage[] => {
  const step = events.find((event) => event.type === 'model_step');
  return events.flatMap((event, index): TranscriptMessage[] => {
    const place = { timestamp: at, id: `${seq}.${index}` };
    switch (event.type) {
      case 'user_message': {
        const { messageId, text, sender, attachments } = event.message;
        const run = event.turnId === undefined ? {} : { runId: event.turnId };
        return [
          {
            role: 'user',
            content: textOf(text),
            ...place,
            messageId,
            ...run,
            sender: nameOf(sender),
            ...(attachments && { attachments }),
          },
        ];
      }
      case 'message_edited':
        return [{ role: 'user', content: textOf(event.text), ...place, edits: event.of, ...revisedBy(event) }];
      case 'message_withdrawn':
        return [{ role: 'user', content: [], ...place, withdraws: event.of, ...revisedBy(event) }];
      case 'assistant_message': {
        const { messageId, text, turn } = event;
        return [{ role: 'assistant', content: textOf(text), ...place, messageId, runId: turn.id, ...(step && byStep(step)) }];
      }
      // The memory flush is not part of the conversation (A7/85).
      case 'model_step':
        return event.calls === undefined || event.flush
          ? []
          : [{ role: 'assistant', content: calling(event), ...place, runId: event.turn.id, ...byStep(event) }];
      case 'tool_result': {
        const { callId, tool, outcome, text, turn } = event;
        const result = { toolCallId: callId, toolName: tool, isError: outcome !== 'ok', runId: turn.id };
        return [{ role: 'toolResult', content: textOf(text), ...place, ...result }];
      }
      default:
        return [];
    }
  });
};

const byStep = ({ model, usage: { inputTokens, outputTokens, totalTokens } }: EventOf<'model_step'>) => ({
  model,
  usage: { inputTokens, outputTokens, totalTokens },
});

/** The messages without tool calls and tool results (A10/102, 116). */
export const withoutToolResults = (messages: readonly TranscriptMessage[]): TranscriptMessage[] =>
  messages.flatMap((message) => {
    const content = message.content.filter(({ type }) => type === 'text');
    const isTalk = message.role !== 'toolResult' && (content.length > 0 || message.content.length === 0);
    return isTalk ? [{ ...message, content }] : [];
  });

const charactersOf = ({ content }: TranscriptMessage): number =>
  content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : part.name.length + part.arguments.length), 0);

/**
 * The last messages of a session's current generation, collected commit by commit: at most `limit`, and no more than fit into
 * `characters`, but always the last one.
 */
export class RecentMessages {
  readonly #options: { readonly limit: number; readonly characters: number; readonly includeTools: boolean };
  #messages: TranscriptMessage[] = [];
  #characters = 0;

  constructor(options: { limit: number; characters: number; includeTools: boolean }) {
    this.#options = options;
  }

  add(commit: RecordedCommit): void {
    const { limit, characters, includeTools } = this.#options;
    if (commit.events.some(({ type }) => type === 'session_reset' || type === 'session_deleted')) {
      this.#messages = [];
      this.#characters = 0;
    }
    const said = transcriptMessages(commit);
    for (const message of includeTools ? said : withoutToolResults(said)) {
      if (this.#revise(message)) continue;
      this.#messages.push(message);
      this.#characters += charactersOf(message);
    }
    while (this.#messages.length > limit || (this.#messages.length > 1 && this.#characters > characters)) {
      const oldest = this.#messages.shift();
      if (oldest) this.#characters -= charactersOf(oldest);
    }
  }

  /** Takes an edit or a withdrawal to the message that it is about; false for any other message. */
  #revise({ edits, withdraws, content }: TranscriptMessage): boolean {
    const of = edits ?? withdraws;
    if (of === undefined) return false;
    const place = this.#messages.findIndex(({ id }) => id === of);
    const old = this.#messages[place];
    if (old === undefined) return true;
    const revised = edits === undefined ? [] : [{ ...old, content }];
    this.#messages.splice(place, 1, ...revised);
    this.#characters += revised.reduce((sum, message) => sum + charactersOf(message), 0) - charactersOf(old);
    return true;
  }

  /** Oldest first. */
  get messages(): readonly TranscriptMessage[] {
    return this.#messages;
  }
}
