import type { SessionRow } from '../../../shared/client/main.ts';
import { actionText } from '../approvals/command-line.ts';
import { forkedFrom, resetWords } from '../parts/reset-words.ts';
import { failedAnswers, lastFailed } from '../parts/status.tsx';
import { shortTime } from '../parts/time.tsx';

/** Why the present generation began: "Reset with /new, 04:00"; and where there is room, `by` whom: "Forked from commit 6 by you, 12:30". */
export const resetText = ({ lastReset }: SessionRow, today: number, by?: string): string | null => {
  if (lastReset === undefined) return null;
  const { fromRev, rule, at } = lastReset;
  return `${fromRev === undefined ? resetWords(lastReset, by) : forkedFrom(fromRev, rule, by)}, ${shortTime(at, today)}`;
};

/** Whether a session says that its last answer failed: what is under way, waits, or was put away is said instead. */
export const saysFailed = ({ approval, status, failedLastRun = false }: SessionRow): boolean =>
  approval === null && status === 'idle' && failedLastRun;

/** What is said of answers that failed where later ones did not; `null`: none did, or the last one says so itself. */
export const earlierFailed = (row: SessionRow): string | null =>
  row.failedTurns === 0 || saysFailed(row) ? null : failedAnswers(row.failedTurns);

/** Why a session is what it is, in a few words; `null` where there is nothing to say. */
export const whyOf = (row: SessionRow, today: number): string | null => {
  if (row.approval !== null) return `Waits for a person: ${actionText(row.approval.action)}`;
  if (row.status === 'running') return row.queuedTurns > 0 ? `Running, ${row.queuedTurns} more in the queue` : 'Running';
  if (saysFailed(row)) return lastFailed;
  if (row.abortedLastRun) return 'The last answer was stopped';
  if (row.status === 'inactive' && row.generation > 0) return 'Archived; its next message brings it back';
  return resetText(row, today);
};
