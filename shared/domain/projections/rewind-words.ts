import type { RewindReason } from '../values/expiry.ts';

/** What somebody did who went back to before a message, in the same words wherever people read of it. */

const restarts: Readonly<Record<RewindReason, string>> = {
  'another text': 'Begun again with the first message changed',
  'another answer': 'Tried again from the beginning',
};
const isRewind = (reason: string): reason is RewindReason => Object.hasOwn(restarts, reason);
/** What a reset was for by its reason, if that is to begin again from the first message; `null`: it was for something else. */
export const restartWords = (rule: string): string | null => (isRewind(rule) ? restarts[rule] : null);

const forkVerbs: Readonly<Record<RewindReason, string>> = { 'another text': 'Edited', 'another answer': 'Tried again' };
/** What somebody did who made a fork for this reason. */
export const forkVerb = (reason = ''): string => (isRewind(reason) ? forkVerbs[reason] : 'Forked');

const rewindNouns: Readonly<Record<RewindReason, string>> = { 'another text': 'the edit', 'another answer': 'the retry' };
/** What a fork or a reset was for by its reason, as a noun; `null`: it was no rewind. */
export const rewindNoun = (reason = ''): string | null => (isRewind(reason) ? rewindNouns[reason] : null);
