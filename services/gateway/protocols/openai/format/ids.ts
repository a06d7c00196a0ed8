import { runIdOf } from '../../../../../shared/domain/keys/run-id.ts';
import { type SessionKey, sessionKeyProblem } from '../../../../../shared/domain/keys/session-key.ts';
import { limits } from '../../../../../shared/kit/limits.ts';

/**
 * The id of a response contains its session and run, so that any replica finds it after any restart: `resp_<key as base64url>.<the run's own
 * part>`. The id does not grant access, which is checked each time.
 */
export const responseIdOf = (key: SessionKey, runId: string): string => {
  const head = Buffer.from(key).toString('base64url');
  return `resp_${head}.${runId.startsWith(`${head}.`) ? runId.slice(head.length + 1) : runId}`;
};

/** The session and the run of a response, or `null` for an invalid id. */
export const runOfResponse = (id: string): { key: SessionKey; runId: string } | null => {
  const [, head = '', unique = ''] = /^resp_([\w-]+)\.(.+)$/s.exec(id) ?? [];
  const key = Buffer.from(head, 'base64url').toString() as SessionKey;
  if (unique.length > limits.idCharacters || sessionKeyProblem(key) !== null) return null;
  const runId = runIdOf(key, unique);
  // Base64 has more than one spelling, an id has only one.
  return responseIdOf(key, runId) === id ? { key, runId } : null;
};
