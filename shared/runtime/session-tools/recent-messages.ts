import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import type { TranscriptMessage } from '../../domain/projections/schemas.ts';
import { RecentMessages } from '../../domain/projections/transcript.ts';
import { isUnreadable, NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import { orQuarantined } from '../../kit/or-quarantined.ts';
import type { Ports } from '../../ports/index.ts';

interface Wanted {
  readonly key: SessionKey;
  /** Sequence of the last commit that must be included. */
  readonly through: number;
  readonly limit: number;
  /** Bound on the total length of the texts. */
  readonly characters: number;
  readonly includeTools: boolean;
}

/**
 * The last messages of the session's current generation, oldest first. Reads from the position in the snapshot, or the whole
 * history if that does not reach back far enough. Throws `unavailable` when the log cannot be read up to `through`.
 */
export const recentMessages = async (
  { events, snapshots }: Pick<Ports, 'events' | 'snapshots'>,
  { key, through, ...bounds }: Wanted,
): Promise<readonly TranscriptMessage[]> => {
  const window = (await snapshots.get(key))?.position.window ?? [];
  const read = async (): Promise<readonly TranscriptMessage[]> => {
    const recent = new RecentMessages(bounds);
    let seen = 0;
    for await (const commit of events.read(key, { after: beginning(window, bounds.limit) })) {
      seen = commit.seq;
      // The requested session is gone; later messages may belong to somebody else (A8/87).
      if (seen > through && commit.events.some(({ type }) => type === 'session_deleted')) return [];
      recent.add(commit);
    }
    if (seen < through) throw new NatterError('unavailable', 'the log cannot be read to its end yet; try again');
    return recent.messages;
  };
  return orQuarantined(read());
};

/**
 * The sequence to read after. Each commit in the window has a message; a window that is not full starts at the generation's
 * beginning.
 */
const beginning = (window: readonly number[], limit: number): number => {
  const first = window.length < limits.windowCommits ? window[0] : undefined;
  return (window.at(-limit) ?? first ?? 1) - 1;
};

/** Histories read concurrently. */
const readsAtOnce = 8;

/**
 * The last messages of each session, without tool results (A10/102). A quarantined session has none; the others are still shown.
 */
export const lastMessagesOf = async (
  ports: Pick<Ports, 'events' | 'snapshots'>,
  rows: readonly Pick<IndexRow, 'key' | 'seq'>[],
  limit: number,
  allCharacters: number = limits.toolCharacters,
): Promise<readonly TranscriptMessage[][]> => {
  const characters = Math.floor(allCharacters / Math.max(1, rows.length));
  const found: TranscriptMessage[][] = rows.map(() => []);
  const rest = rows.entries();
  const read = async (): Promise<void> => {
    for (const [at, { key, seq }] of rest) {
      try {
        found[at] = [...(await recentMessages(ports, { key, through: seq, limit, characters, includeTools: false }))];
      } catch (error) {
        if (!isUnreadable(error)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, read));
  return found;
};
