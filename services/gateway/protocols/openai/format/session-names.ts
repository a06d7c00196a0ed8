import type { SessionKey } from '../../../../../shared/domain/keys/session-key.ts';

/** Sessions that this interface names itself, by what it derives their names from. */
export const protocols = { call: 'openai', user: 'openai-user', unstored: 'openai-unstored' } as const;

const isOf = (key: SessionKey, protocol: string): boolean => new RegExp(`^agent:[^:]+:api:${protocol}-[\\w-]{22}$`).test(key);

/** It was begun by one call that named no session. */
export const isOfOneCall = (key: SessionKey): boolean => isOf(key, protocols.call);
/** It is for one answer that nobody may read later (`store: false`). */
export const isUnstored = (key: SessionKey): boolean => isOf(key, protocols.unstored);
