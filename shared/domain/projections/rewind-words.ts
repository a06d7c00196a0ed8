import type { RewindReason } from '../values/expiry.ts';

/** What somebody did who went back to before a message, in the same words wherever people read of it. */

const restarts: Readonly<Record<RewindReason, string>> = {
  'another text': 'Begun again with the first message changed',
  'another answer': 'Tried again from the beginning',
};
/** What a reset was for by its reason, if that is to begin again from the first message; `null`: it was for something else. */
export const restartWords = (rule: string): string | null =>
  Object.hasOwn(restarts, rule) ? restarts[rule as RewindReason] : null;

const forkVerbs: Readonly<Record<RewindReason, string>> = { 'another text': 'Edited', 'another answer': 'Tried again' };
/** What somebody did who made a fork for this reason. */
export const forkVerb = (reason = ''): string => forkVerbs[reason as RewindReason] ?? 'Forked';
