import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { fold, fromPlain, initialState, type SessionState } from '../../../shared/domain/session/evolve.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';

type LoadPorts = Pick<Ports, 'clock' | 'events' | 'snapshots'>;

/**
 * Reads a session's state as the leader has it: the snapshot, then the commits after it, at least up to the key's last. A snapshot that does
 * not fit its tail, or is ahead of the log, is ignored for a full replay (I4). Throws `NatterError('quarantined' | 'unavailable')`.
 */
export const loadState = async (ports: LoadPorts, key: SessionKey): Promise<SessionState> => {
  const [snapshot, last] = await Promise.all([ports.snapshots.get(key).catch(() => null), ports.events.last(key)]);
  const through = last?.seq ?? 0;
  if (snapshot !== null && snapshot.position.seq <= through) {
    try {
      return await foldTail(ports, key, fromPlain(snapshot), through);
    } catch (error) {
      if (error instanceof NatterError && error.code === 'unavailable') throw error;
    }
  }
  try {
    return await foldTail(ports, key, initialState, through);
  } catch (error) {
    if (error instanceof NatterError && error.code !== 'invalid') throw error;
    throw new NatterError('quarantined', `the history of ${key} cannot be folded: ${String(error)}`, { cause: error });
  }
};

const foldTail = async (ports: LoadPorts, key: SessionKey, from: SessionState, through: number): Promise<SessionState> => {
  let state = from;
  for await (const commit of readThrough(ports, key, { after: from.position.seq, through })) state = fold(state, commit);
  return state;
};
