import { isGroupKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { counted } from '../../../shared/kit/text/counted.ts';

/** Why a session cannot be deleted here, by the rule of the session itself; `null`: it can be. */
export const whyKept = (key: string): string | null =>
  isGroupKey(key as SessionKey)
    ? 'A group’s history belongs to everyone in it, so it is kept. Archive the session instead.'
    : null;

/** Which of some sessions a deletion leaves, in a sentence; `null`: none. */
export const keptWords = (keys: readonly string[]): string | null => {
  const kept = keys.filter((key) => whyKept(key) !== null).length;
  if (kept === 0) return null;
  return kept === keys.length
    ? 'None of them can be deleted: a group’s history belongs to everyone in it.'
    : `${counted(kept, 'session')} of a group will be kept: its history belongs to everyone in it.`;
};
