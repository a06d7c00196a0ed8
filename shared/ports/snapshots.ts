import type { SessionKey } from '../domain/keys/session-key.ts';
import type { PlainState } from '../domain/session/fold/evolve.ts';

/** `damaged`: the log before it is, so nothing goes on from it; it says what was known (F13). */
export interface Snapshot extends PlainState {
  readonly damaged?: true;
}

/** A cached fold of one session. Any doubt about it leads to a full replay (I4). */
export interface Snapshots {
  /** The newest snapshot that passes its checks (schema, signature, key), else `null`. Whether it stands on the log is for its reader to see. */
  get(key: SessionKey): Promise<Snapshot | null>;
  put(key: SessionKey, state: Snapshot): Promise<void>;
}
