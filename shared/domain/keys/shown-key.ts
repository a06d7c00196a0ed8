import { canonicalKey, type KeyContext, storedPrefix } from './legacy-key.ts';
import { bareKey, parseKey, type SessionKey } from './session-key.ts';

/** What callers may call a session. `canonicalKey` turns each of these back into its stored key, so no two sessions share one (D1). */

/**
 * A key as people and models see it: the agent's main session is `main`, which with `session.scope: global` is the global one,
 * and its cron sessions are `cron:<jobId>` (A3/37, 40, A10/103, C2). Others have their full key.
 */
export const shownKey = (key: SessionKey, context: KeyContext): string => {
  const { kind, agentId } = parseKey(key, context.mainKey);
  if (agentId !== context.agentId) return listedKey(key, context);
  if (kind === (context.scope === 'global' ? 'global' : 'main')) return 'main';
  return kind === 'cron' ? bareKey(key) : listedKey(key, context);
};

/** A key as people type it: the one that is shown, also of other sessions without the agent, wherever that leads back to the session. */
export const shortKey = (key: SessionKey, context: KeyContext): string => {
  const [shown, short] = [shownKey(key, context), bareKey(key)];
  const found = canonicalKey(short, context);
  return shown === key && 'key' in found && found.key === key ? short : shown;
};

/** A key as programs see it: the stored one, unless that names another session by now (D2). */
export const listedKey = (key: SessionKey, context: KeyContext): string => {
  const found = canonicalKey(key, context);
  return 'key' in found && found.key !== key ? `${storedPrefix}${key}` : key;
};

/** The stored key of a listed one. */
export const storedKey = (listed: string): SessionKey =>
  (listed.startsWith(storedPrefix) ? listed.slice(storedPrefix.length) : listed) as SessionKey;
