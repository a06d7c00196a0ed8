import { NatterError } from '../../shared/kit/errors.ts';
import type { Ports } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import { fold, fromPlain, initialState, type SessionState } from '../../shared/session/evolve.ts';

/** Reads a session's state: snapshot, then the commits after it. A snapshot that does not fit its tail is dropped for a full replay (I4). */
export const loadState = async (
  { events, snapshots }: Pick<Ports, 'events' | 'snapshots'>,
  key: SessionKey,
): Promise<SessionState> => {
  const snapshot = await snapshots.get(key).catch(() => null);
  if (snapshot !== null) {
    try {
      return await foldTail(events, key, fromPlain(snapshot));
    } catch (error) {
      if (error instanceof NatterError && error.code === 'unavailable') throw error;
    }
  }
  try {
    return await foldTail(events, key, initialState);
  } catch (error) {
    if (error instanceof NatterError && error.code !== 'invalid') throw error;
    throw new NatterError('quarantined', `the history of ${key} cannot be folded: ${String(error)}`, { cause: error });
  }
};

const foldTail = async (events: Ports['events'], key: SessionKey, from: SessionState): Promise<SessionState> => {
  let state = from;
  for await (const commit of events.read(key, { after: from.position.seq })) state = fold(state, commit);
  return state;
};
