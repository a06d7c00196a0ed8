import { canonicalKey, type KeyConfig, keyContextOf } from '../../domain/keys/legacy-key.ts';
import type { SessionKey } from '../../domain/keys/session-key.ts';
import { NatterError } from '../../kit/errors.ts';

/** The session that a caller names, in a short, older or full form (C2, A3/35–40). Throws `invalid` with the field. */
export const keyFrom = (config: KeyConfig, text: string, field = 'sessionKey'): SessionKey => {
  const result = canonicalKey(text, keyContextOf(config));
  if ('key' in result) return result.key;
  throw new NatterError('invalid', `${field}: ${result.problem}`, { field });
};
