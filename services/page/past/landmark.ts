import type { SessionEvent } from '../../../shared/domain/session/events.ts';

/** What a person looks for in a history. */
export const landmarks = ['error', 'reset', 'fork', 'approval'] as const;
export type Landmark = (typeof landmarks)[number];

/** What an event is to a person who looks for something; `null`: nothing. What fails in the background is no error of the conversation. */
export const landmarkOf = (event: SessionEvent): Landmark | null => {
  if (event.type === 'turn_failed' || event.type === 'history_damaged') return 'error';
  if (event.type === 'tool_result' && event.outcome !== 'ok') return 'error';
  if (event.type === 'session_reset') return event.forkedFrom === undefined ? 'reset' : 'fork';
  if (event.type === 'session_deleted') return 'reset';
  return event.type === 'approval_requested' || event.type === 'approval_resolved' ? 'approval' : null;
};
