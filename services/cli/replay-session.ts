import type { NatterClient } from '../../shared/client/main.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { type SessionState, type ShownState, toPlain, toShown } from '../../shared/domain/session/fold/evolve.ts';
import { HistoryFold } from '../../shared/domain/session/fold/history-fold.ts';
import { type Difference, differences } from '../../shared/kit/comparison.ts';
import { commitsOf } from './commits.ts';

/** The outcome of a replay. `differences` is empty if the fold of the log here and the server's state agree (I4). */
export interface Replay {
  readonly key: string;
  readonly commits: number;
  readonly events: number;
  readonly state: ShownState;
  /** What the server made its state from: a `snapshot` and the commits after it, or the whole `log`. */
  readonly serverFrom: string;
  readonly differences: readonly Difference[];
}

/**
 * Folds a session's log here, from the beginning up to the position of the server's state (or up to `at`), and compares the two states.
 * Executes nothing. Throws `damaged` where commits are lost and nobody has decided about it. `seen` gets each commit with the states before and after it.
 */
export const replaySession = async (
  client: NatterClient,
  key: string,
  options: { at?: string; seen?: (commit: RecordedCommit, before: SessionState, after: SessionState) => void } = {},
): Promise<Replay> => {
  const { key: listed, from: serverFrom, ...server } = await client.sessions.state(key, { at: options.at, patienceMs: 10_000 });
  const history = new HistoryFold();
  let commits = 0;
  let events = 0;
  for await (const commit of commitsOf(client, key)) {
    if (commit.seq > server.position.seq) break;
    const before = history.state;
    history.take(commit);
    options.seen?.(commit, before, history.state);
    commits += 1;
    events += commit.events.length;
  }
  const state = toShown(toPlain(history.whole(listed as SessionKey)));
  return { key: listed, commits, events, state, serverFrom, differences: differences(state, server) };
};
