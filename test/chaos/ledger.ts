import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import type { EventLog } from '../../shared/ports/event-log.ts';
import type { SentCommand } from './driver.ts';

/** The log as a follower sees it live, and what is still open according to it. */
export interface Ledger {
  readonly commits: readonly RecordedCommit[];
  /** Ids of commands with an effect in the log. */
  has(commandId: string): boolean;
  /** Turns that were accepted and have not ended. */
  openTurns(): readonly string[];
  /** Sessions with an introspection that was asked for and has not ended (A7/84). */
  openReviews(): readonly string[];
  close(): Promise<void>;
}

export const openLedger = (events: Pick<EventLog, 'follow'>): Ledger => {
  const closing = new AbortController();
  const commits: RecordedCommit[] = [];
  const applied = new Set<string>();
  const open = new Set<string>();
  const asked = new Map<string, number>();

  const follow = async (): Promise<void> => {
    for await (const commit of events.follow({ after: 0, signal: closing.signal })) {
      commits.push(commit);
      applied.add(commit.command.id);
      for (const event of commit.events) {
        for (const id of begunBy(event)) open.add(id);
        for (const id of endedBy(event)) open.delete(id);
        if (event.type === 'checkpoint_requested') asked.set(commit.key, event.toRev);
        if (reviewedBy(event) >= (asked.get(commit.key) ?? 0)) asked.delete(commit.key);
      }
    }
  };
  const following = follow();
  return {
    commits,
    has: (commandId) => applied.has(commandId),
    openTurns: () => [...open],
    openReviews: () => [...asked.keys()],
    close: async () => {
      closing.abort();
      await following;
    },
  };
};

export const begunBy = (event: SessionEvent): readonly string[] =>
  event.type === 'turn_queued' || event.type === 'turn_started' ? [event.turn.id] : [];

export const endedBy = (event: SessionEvent): readonly string[] => {
  switch (event.type) {
    case 'turn_completed':
    case 'turn_failed':
    case 'turn_aborted':
      return [event.turn.id];
    case 'queue_cleared':
      return event.turnIds;
    default:
      return [];
  }
};

/** The rev up to which nothing is to be introspected after this. */
const reviewedBy = (event: SessionEvent): number => {
  if (event.type === 'session_deleted') return Number.POSITIVE_INFINITY;
  return event.type === 'introspected' || event.type === 'introspection_failed' ? event.toRev : -1;
};

/** A stop that has nothing to stop leaves no trace in the log, so its absence says nothing. */
export const leavesTrace = ({ envelope }: SentCommand): boolean => envelope.data.type !== 'stop';

/** What keeps the system from being at rest; empty: everything accepted has come to its end (I10). */
export const unfinished = (ledger: Ledger, commands: readonly SentCommand[]): string[] => {
  const missing = commands.filter((sent) => sent.okAt !== null && leavesTrace(sent) && !ledger.has(sent.envelope.id));
  const open = ledger.openTurns();
  const reviews = ledger.openReviews();
  return [
    ...(missing.length === 0 ? [] : [`${missing.length} acknowledged commands without an effect`]),
    ...(open.length === 0 ? [] : [`${open.length} turns under way`]),
    ...(reviews.length === 0 ? [] : [`${reviews.length} sessions to be introspected`]),
  ];
};
