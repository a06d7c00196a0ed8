import type { RecordedCommit } from '../session/envelope.ts';

/**
 * The session id of each event of a commit, in order. A commit carries the id that its events lead to; events before a reset
 * belong to the previous session (C10).
 */
export const sessionIdsOf = ({ events, sessionId: last }: Pick<RecordedCommit, 'events' | 'sessionId'>): readonly string[] => {
  let current = events.find((event) => event.type === 'session_reset')?.previousSessionId ?? last;
  return events.map((event) => {
    if (event.type === 'session_opened' || event.type === 'session_reset') current = event.sessionId;
    return current;
  });
};
