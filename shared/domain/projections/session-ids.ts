import type { RecordedCommit } from '../session/envelope.ts';

/**
 * The session id each event of a commit belongs to, in order. A commit bears the id its events lead to; where one of them is a reset, what
 * stands before it was still of the session before (C10).
 */
export const sessionIdsOf = ({ events, sessionId: last }: Pick<RecordedCommit, 'events' | 'sessionId'>): readonly string[] => {
  let current = events.find((event) => event.type === 'session_reset')?.previousSessionId ?? last;
  return events.map((event) => {
    if (event.type === 'session_opened' || event.type === 'session_reset') current = event.sessionId;
    return current;
  });
};
