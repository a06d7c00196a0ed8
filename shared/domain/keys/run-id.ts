import { limits } from '../../kit/limits.ts';
import { type SessionKey, sessionKeyProblem } from './session-key.ts';

/**
 * A run id contains its session key, so that any replica finds the run by its id alone, after any restart (A10/122): `<key as
 * base64url>.<unique>`. A key that would make the id too long is left out.
 */
export const runIdOf = (key: SessionKey, unique: string): string => {
  const id = `${Buffer.from(key).toString('base64url')}.${unique}`;
  return id.length <= limits.idCharacters ? id : unique;
};

/** The session of a run, or `null` if the id does not contain it. */
export const keyOfRun = (runId: string): SessionKey | null => {
  const [head = '', unique] = runId.split('.', 2);
  const key = Buffer.from(head, 'base64url').toString();
  return unique !== undefined && sessionKeyProblem(key) === null ? (key as SessionKey) : null;
};
