import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';

/** The one answer for a session that does not exist, is deleted, or is not visible to the caller: word for word the same (A8/89). */
export const noSuchSession = (): NatterError =>
  new NatterError('not_found', 'there is no such session, or it is not yours to see', { field: 'key' });

/** Throws `noSuchSession()` if nothing is recorded under the key; otherwise its last commit, from the leader. */
export const lastOf = async (events: EventLog, key: SessionKey): Promise<RecordedCommit> => {
  const last = await orQuarantined(events.last(key));
  if (last === null) throw noSuchSession();
  return last;
};
