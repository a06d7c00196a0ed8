import type { LogEntry } from '../../../shared/client/main.ts';
import { client, problemOf } from '../base/signed-in.ts';
import type { PastSource } from './past.ts';

/** Commits that are shown of the newest moment until all are read: more than a screen has. */
const newestCommits = 60;

/** The past of a session as its gateway has it. */
export const gatewayPast = (key: string): PastSource => ({
  isLive: true,
  commits: (after, signal) => client.sessions.export(key, { after, signal }),
  async *recorded(after, signal) {
    for await (const item of client.events({ key, after, signal })) if ('rev' in item) yield item.seq;
  },
  async newest(signal) {
    const last = client.get<{ commits: LogEntry[] }>(`/v1/sessions/${encodeURIComponent(key)}/commits`, {
      query: { before: 'end', limit: newestCommits },
      signal,
    });
    const [{ commits }, { key: _, from: __, ...state }] = await Promise.all([last, client.sessions.state(key, { signal })]);
    // Something was recorded between the two answers: what is read anyway has it.
    return commits[0]?.seq === state.position.seq ? { commits: commits.toReversed(), state } : null;
  },
  problemOf,
});
