import type { NatterClient } from '../../shared/client/main.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { fold, initialState, type PlainState, type SessionState, toPlain } from '../../shared/domain/session/evolve.ts';
import { type Difference, differences } from '../../shared/kit/comparison.ts';
import { commitsOf } from './commits.ts';

/** The outcome of a replay. `differences` is empty if the fold of the log here and the server's state agree (I4). */
export interface Replay {
  readonly key: string;
  readonly commits: number;
  readonly events: number;
  readonly state: PlainState;
  /** What the server made its state from: a `snapshot` and the commits after it, or the whole `log`. */
  readonly serverFrom: string;
  readonly differences: readonly Difference[];
}

/**
 * Folds a session's log here, from the beginning up to the position of the server's state (or up to `at`), and compares the two states.
 * Executes nothing. `seen` gets each commit with the states before and after it.
 */
export const replaySession = async (
  client: NatterClient,
  key: string,
  options: { at?: string; seen?: (commit: RecordedCommit, before: SessionState, after: SessionState) => void } = {},
): Promise<Replay> => {
  const { key: _, from: serverFrom, ...server } = await client.sessions.state(key, { at: options.at, patienceMs: 10_000 });
  let state = initialState;
  let commits = 0;
  let events = 0;
  for await (const commit of commitsOf(client, key)) {
    if (commit.seq > server.position.seq) break;
    const after = fold(state, commit);
    options.seen?.(commit, state, after);
    state = after;
    commits += 1;
    events += commit.events.length;
  }
  const plain = toPlain(state);
  return { key, commits, events, state: plain, serverFrom, differences: differences(plain, server) };
};
