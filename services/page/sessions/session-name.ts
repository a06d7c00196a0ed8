import type { SessionRow } from '../../../shared/client/main.ts';

type Named = Pick<SessionRow, 'key' | 'shownKey' | 'settings' | 'origin'>;

/** What people call a session: the name somebody gave it, else that of the chat it is, else its key without the agent. */
export const nameOf = ({ shownKey, settings, origin }: Named): string =>
  settings.displayName || origin.displayName || origin.label || shownKey.replace(/^agent:[^:]+:/, '');

/** Why a session is what it is, in a few words; `null` where there is nothing to say. */
export const whyOf = (row: SessionRow): string | null => {
  if (row.approval !== null) return `Waits for a person: ${row.approval.action}`;
  if (row.status === 'running') return row.queuedTurns > 0 ? `Answering, ${row.queuedTurns} more in the queue` : 'Answering now';
  if (row.abortedLastRun) return 'The last answer was stopped';
  if (row.failedTurns > 0) return `${row.failedTurns} ${row.failedTurns === 1 ? 'answer' : 'answers'} failed`;
  if (row.status === 'inactive') return 'Set inactive; the next message wakes it';
  return null;
};
