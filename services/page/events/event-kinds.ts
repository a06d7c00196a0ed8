import type { EventType, NatterEvent } from '../../../shared/client/main.ts';

/** What people look for, as kinds of events: some types, and of those perhaps not all events. */
interface Kind {
  readonly words: string;
  /** Empty: all of them. */
  readonly types: readonly EventType[];
  fits?(event: NatterEvent): boolean;
}

/** A call that a person denied is no trouble, nor an answer that a person stopped. */
const failedOutcomes: ReadonlySet<string> = new Set(['error', 'unknown']);

export const kinds: Readonly<Record<string, Kind>> = {
  all: { words: 'Everything', types: [] },
  talk: {
    words: 'What was said',
    types: ['user_message', 'assistant_message', 'notice', 'message_edited', 'message_withdrawn'],
  },
  turns: {
    ...{ words: 'Answers' },
    types: [
      ...(['turn_queued', 'turn_started', 'turn_resumed', 'turn_joined', 'turn_completed', 'turn_failed'] as const),
      ...(['turn_aborted', 'model_step'] as const),
    ],
  },
  tools: {
    words: 'Tools and approvals',
    types: ['tool_call_started', 'tool_result', 'approval_requested', 'approval_resolved'],
  },
  trouble: {
    words: 'Trouble',
    types: ['turn_failed', 'tool_result', 'message_refused', 'delivery_reported', 'history_damaged', 'introspection_failed'],
    fits: (event) => event.type !== 'tool_result' || failedOutcomes.has(event.outcome),
  },
  sessions: {
    words: 'Sessions',
    types: ['session_opened', 'session_reset', 'session_deleted', 'session_deactivated', 'session_reopened', 'settings_changed'],
  },
  memory: {
    words: 'Memory and checkpoints',
    types: ['memory_changed', 'checkpoint_requested', 'introspected', 'introspection_failed', 'context_compacted'],
  },
};

/** The kind that the address names: one of these, or a type by itself. */
export const kindOf = (name: string): Kind =>
  Object.hasOwn(kinds, name) ? (kinds[name] as Kind) : { words: name, types: [name as EventType] };

/** Where the agent was given a memory with its instructions, from that moment on. */
export const givenMemory = (id: string): Kind => ({
  ...{ words: 'Who was given a memory', types: ['prompt_changed'] },
  fits: (event) => event.type === 'prompt_changed' && event.parts.some(({ memories = [] }) => memories.includes(id)),
});

/** Whether an event is of a kind. */
export const isOfKind = ({ types, fits }: Kind, event: NatterEvent): boolean =>
  (types.length === 0 || types.includes(event.type)) && (fits?.(event) ?? true);
