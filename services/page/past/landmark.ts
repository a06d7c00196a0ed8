import type { SessionEvent } from '../../../shared/domain/session/events.ts';

/** What a person looks for in a history. */
export const landmarks = ['error', 'reset', 'fork', 'approval'] as const;
export type Landmark = (typeof landmarks)[number];

const errors: ReadonlySet<SessionEvent['type']> = new Set(['turn_failed', 'history_damaged', 'introspection_failed']);

/** What an event is to a person who looks for something; `null`: nothing. */
export const landmarkOf = (event: SessionEvent): Landmark | null => {
  if (errors.has(event.type)) return 'error';
  if (event.type === 'tool_result' && event.outcome !== 'ok') return 'error';
  if (event.type === 'session_reset') return event.forkedFrom === undefined ? 'reset' : 'fork';
  if (event.type === 'session_deleted') return 'reset';
  return event.type === 'approval_requested' || event.type === 'approval_resolved' ? 'approval' : null;
};
