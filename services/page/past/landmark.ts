import type { SessionEvent } from '../../../shared/domain/session/events.ts';

/** What a person looks for in a history. Of checkpoints only those that failed. */
export const landmarks = ['error', 'checkpoint', 'reset', 'fork', 'approval'] as const;
export type Landmark = (typeof landmarks)[number];

/** What an event is to a person who looks for something; `null`: nothing. */
export const landmarkOf = (event: SessionEvent): Landmark | null => {
  if (event.type === 'turn_failed' || event.type === 'history_damaged') return 'error';
  // Its answers are none the worse for it.
  if (event.type === 'introspection_failed') return 'checkpoint';
  if (event.type === 'tool_result' && event.outcome !== 'ok') return 'error';
  if (event.type === 'session_reset') return event.forkedFrom === undefined ? 'reset' : 'fork';
  if (event.type === 'session_deleted') return 'reset';
  return event.type === 'approval_requested' || event.type === 'approval_resolved' ? 'approval' : null;
};
