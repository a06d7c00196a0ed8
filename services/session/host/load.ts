import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isErasure, standsOn } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { fromPlain, type PlainState, type SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import { damaged, HistoryFold } from '../../../shared/domain/session/fold/history-fold.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';

type LoadPorts = Pick<Ports, 'clock' | 'events' | 'snapshots'>;

/**
 * Reads a session's state as the leader has it: the snapshot, then the commits after it, at least up to the key's last. A snapshot that does
 * not stand on the log or does not fit its tail, or before which commits are lost, is ignored for a full replay (I4). Throws `damaged` when
 * commits are missing or changed, also at the end, where a snapshot is the witness (F13); and `quarantined` and `unavailable`.
 */
export const loadState = async (ports: LoadPorts, key: SessionKey): Promise<SessionState> => {
  const stored = ports.snapshots.get(key).catch(() => null);
  const [found, seen, counted] = await Promise.all([
    stored,
    ports.events.last(key),
    // How many there are is needed with a snapshot alone.
    stored.then((snapshot) => (snapshot === null ? 0 : ports.events.count(key))),
  ]);
  // One of a session without any commit stands on nothing.
  const snapshot = found?.position.seq ? found : null;
  const isAhead = (last: RecordedCommit | null): boolean => snapshot !== null && snapshot.position.seq > (last?.seq ?? 0);
  // The session's last host may have written both in between; the leader has what a snapshot stands on.
  const last = isAhead(seen) ? await ports.events.last(key) : seen;
  const through = last?.seq ?? 0;
  if (snapshot !== null && isAhead(last)) throw damaged(key, lostAfter(last, snapshot));
  if (snapshot !== null && !snapshot.damaged) {
    const [isWhole, state] = await Promise.all([
      hasEachCommit(ports.events, last, { key, counted }),
      fromSnapshot(ports, snapshot, { key, through, last }).catch((error: unknown) => {
        if (error instanceof NatterError && error.code === 'unavailable') throw error;
        return null;
      }),
    ]);
    if (isWhole && state !== null) return state;
  }
  try {
    return await foldAll(ports, key, through);
  } catch (error) {
    if (error instanceof NatterError && error.code !== 'invalid') throw error;
    throw new NatterError('quarantined', `the history of ${key} cannot be folded: ${String(error)}`, { cause: error });
  }
};

/** True if as many commits are stored as there should be: which of them a snapshot hides is for a full replay to see (F13). */
const hasEachCommit = async (
  events: LoadPorts['events'],
  last: RecordedCommit | null,
  { key, counted }: { readonly key: SessionKey; readonly counted: number },
): Promise<boolean> => {
  const rev = last?.rev ?? 0;
  if (counted >= rev) return true;
  // The session's last host may have written after we counted.
  const stored = await events.count(key);
  if (stored >= rev) return true;
  const { commits } = await events.page({ after: 0, limit: 1, key });
  return commits.some((first) => isErasure(first) && stored > rev - first.rev);
};

/** What a snapshot of ours has seen and the log no longer has. */
const lostAfter = (last: RecordedCommit | null, { position }: PlainState) => ({
  ...({ reason: 'missing', fromRev: (last?.rev ?? 0) + 1, toRev: position.rev } as const),
  ...{ afterSeq: last?.seq ?? 0, beforeSeq: null },
});

interface LogEnd {
  readonly key: SessionKey;
  readonly through: number;
  readonly last: RecordedCommit | null;
}

/** The snapshot and its tail; `null` if the commit that it stands on is not the one in the log. */
const fromSnapshot = async (
  ports: LoadPorts,
  snapshot: PlainState,
  { key, through, last }: LogEnd,
): Promise<SessionState | null> => {
  const { seq } = snapshot.position;
  if (seq === last?.seq) return standsOn(snapshot, last) ? fromPlain(snapshot) : null;
  const replay = new HistoryFold(fromPlain(snapshot));
  let stands = false;
  for await (const commit of readThrough(ports, key, { after: seq - 1, through })) {
    if (stands) replay.take(commit);
    else if (standsOn(snapshot, commit)) stands = true;
    else return null;
  }
  return stands ? replay.whole(key) : null;
};

const foldAll = async (ports: LoadPorts, key: SessionKey, through: number): Promise<SessionState> => {
  const replay = new HistoryFold();
  if (through > 0) for await (const commit of readThrough(ports, key, { after: 0, through })) replay.take(commit);
  return replay.whole(key);
};
