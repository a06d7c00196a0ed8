import { isGroupKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';

/** Why a session cannot be deleted here, by the rule of the session itself; `null`: it can be. */
export const whyKept = (key: string): string | null =>
  isGroupKey(key as SessionKey)
    ? 'A group’s history belongs to everyone in it, so it is kept. Archive the session instead.'
    : null;

/** Those of some sessions that a deletion leaves. */
export const keptOf = (keys: readonly string[]): readonly string[] => keys.filter((key) => whyKept(key) !== null);
