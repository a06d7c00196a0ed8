import type { Session } from '../../../shared/client/main.ts';
import type { ResetCause } from '../../../shared/domain/values/expiry.ts';

const words: Readonly<Record<ResetCause['trigger'], string>> = {
  daily: 'Reset by the daily rule',
  idle: 'Reset after being idle',
  isolated: 'Reset: each message starts anew',
  command: 'Reset by a chat command',
  fork: 'Forked',
  api: 'Reset by a call',
};

/** Why a generation began, in the same words wherever the page says it; with the limit that was passed, where the log has it. */
export const resetWords = ({ trigger, boundaryAt, lastUpdateAt }: Omit<ResetCause, 'rule'>): string =>
  trigger === 'idle' && boundaryAt !== undefined && lastUpdateAt !== undefined
    ? `Reset after more than ${Math.round((boundaryAt - lastUpdateAt) / 60_000)} min idle`
    : words[trigger];

/** Where a fork goes on from: the number that the commit has in its session. */
export const forkedFrom = (rev: number): string => `Forked from commit ${rev}`;

/** What the agent knows of the conversation after a fork, as a clause. */
export const knownAfterFork = 'the agent knows the conversation up to there, and since';

/** When the next reset is, or was due, and by which rule; `null`: none comes by itself. */
export const nextResetOf = ({
  dailyAt,
  idleAt,
}: Session['nextReset']): { readonly at: number; readonly isIdle: boolean } | null => {
  const at = Math.min(dailyAt ?? Number.POSITIVE_INFINITY, idleAt ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(at) ? { at, isIdle: at === idleAt } : null;
};

/** Before the time of the next reset, or of one that is due: which rule makes it. */
export const nextResetWords = (isIdle: boolean, isAhead: boolean): string => {
  if (isAhead) return isIdle ? 'Resets if nothing is said until' : 'Daily reset at';
  return `The next message starts afresh: ${isIdle ? 'its idle limit passed at' : 'its daily reset was due at'}`;
};
