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

/** Before the time of the next reset, or of one that is due: which rule makes it. */
export const nextResetWords = (isIdle: boolean, isAhead: boolean): string => {
  if (isAhead) return isIdle ? 'Resets if nothing is said until' : 'Daily reset at';
  return `The next message starts afresh: ${isIdle ? 'idle' : 'the daily reset is due'} since`;
};
