import type { SessionKey } from '../keys/session-key.ts';
import type { SessionStatus } from '../session/fold/machine.ts';
import type { LastReset } from '../values/expiry.ts';
import type { Settings } from '../values/settings.ts';
import type { ApprovalRequest, DeliveryTarget, Origin, SessionSource } from '../values/types.ts';
import type { Revision } from './row-parts.ts';
import type { WaitingMessage } from './waiting-messages.ts';

/** A row of the session index (A2/17), for lists and status pages. Folded from the log; never the truth. */
export interface IndexRow {
  readonly key: SessionKey;
  readonly sessionId: string;
  readonly generation: number;
  readonly status: SessionStatus;
  readonly source: SessionSource | null;
  readonly createdAt: number;
  /** Time of the last commit, ms. */
  readonly updatedAt: number;
  /** Time of the last commit with an interaction, ms: an expiry is measured from it (A4/45). */
  readonly interactedAt: number;
  /** Sequence and `rev` of the last commit in this row. */
  readonly seq: number;
  readonly rev: number;
  readonly messageCount: number;
  readonly completedTurns: number;
  readonly failedTurns: number;
  readonly refusedMessages: number;
  readonly queuedTurns: number;
  /** Those of them whose messages are strangers' (D7). */
  readonly strangersQueued?: readonly string[] | undefined;
  readonly activeTurnId: string | null;
  /** The approval that the turn waits for (A5/62). */
  readonly approval: PendingApproval | null;
  /** Those that no turn waits for, oldest first (ADR 22). */
  readonly questions?: readonly PendingApproval[] | undefined;
  /** The active turn waits for results of the program's tools until then, ms. */
  readonly resultsUntil?: number | undefined;
  /** The last `thread` of a message that asked for a turn. */
  readonly thread?: string | undefined;
  readonly costUsd: number;
  readonly lastMessagePreview: string;
  /** The event of that message: `<seq>.<index>`. */
  readonly lastMessageId?: string | undefined;
  /** Messages that wait for the turns before theirs, oldest first. */
  readonly waitingMessages?: readonly WaitingMessage[] | undefined;
  /**
   * The beginning of the first message with words, by which a session without a name is known. Absent: not known, in a
   * row that an older version wrote.
   */
  readonly firstWords?: string | undefined;
  /** The event of that message: `<seq>.<index>`. */
  readonly firstWordsId?: string | undefined;
  /** Sequence of the reset that somebody asked for since. They stay as a name, until something new is said. */
  readonly firstWordsEndedSeq?: number | undefined;
  /** The last messages that were edited or withdrawn, and the commits that say so, oldest first, bounded. */
  readonly revisions?: readonly Revision[];
  /** The people who have written here, as principals (A5/67), oldest first, bounded. */
  readonly participants: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Tokens of the last model step: how full the model's window is. */
  readonly contextTokens: number;
  /** The model of the last step; empty before the first. */
  readonly model: string;
  /** The model has received the system prompt of this generation (A10/109). */
  readonly systemSent: boolean;
  readonly abortedLastRun: boolean;
  /** The last turn that ended has failed. Absent: not known, in a row that an older version wrote. */
  readonly failedLastRun?: boolean | undefined;
  /** What began the present generation (A4/53–55). */
  readonly lastReset?: LastReset | undefined;
  /** What the session is about: a person's words if given, else the introspection's (A2/17, A7/82). Empty: unknown. */
  readonly description: string;
  readonly descriptionSource: 'person' | 'introspection' | null;
  readonly workingMemory: string;
  /** Time of the last introspection, ms; 0: none yet (A7/84). */
  readonly introspectedAt: number;
  readonly settings: Settings;
  readonly origin: Origin;
  readonly lastRoute: DeliveryTarget | null;
  /** Deleted sessions are in no list (C9). */
  readonly deleted: boolean;
  /** Sequence of the last deletion; only the owner may read what was before it (A8/87). 0: never deleted. */
  readonly deletedSeq: number;
  /** Bytes in the log that erasing the session would free. Absent: not known, in a row that an older version wrote. */
  readonly logBytes?: number | undefined;
}

/** A request for approval, and since when it is pending, ms. */
export type PendingApproval = ApprovalRequest & { readonly requestedAt: number };

/** What no turn waits for. In a row of an older version it is in the place of what one waits for. */
export const questionsIn = ({
  approval,
  questions = [],
}: Pick<IndexRow, 'approval' | 'questions'>): readonly PendingApproval[] =>
  approval?.deferred ? [approval, ...questions] : questions;

/** All approvals that are pending in a session, the turn's first. */
export const pendingIn = (row: Pick<IndexRow, 'approval' | 'questions'>): readonly PendingApproval[] =>
  row.approval && !row.approval.deferred ? [row.approval, ...questionsIn(row)] : questionsIn(row);

/** A row before its first commit. */
export const emptyRow = (key: SessionKey): IndexRow => ({
  key,
  sessionId: '',
  generation: 0,
  status: 'inactive',
  source: null,
  createdAt: 0,
  updatedAt: 0,
  interactedAt: 0,
  seq: 0,
  rev: 0,
  messageCount: 0,
  completedTurns: 0,
  failedTurns: 0,
  refusedMessages: 0,
  queuedTurns: 0,
  activeTurnId: null,
  approval: null,
  costUsd: 0,
  lastMessagePreview: '',
  firstWords: '',
  participants: [],
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  contextTokens: 0,
  model: '',
  systemSent: false,
  abortedLastRun: false,
  failedLastRun: false,
  description: '',
  descriptionSource: null,
  workingMemory: '',
  introspectedAt: 0,
  settings: {},
  origin: {},
  lastRoute: null,
  deleted: false,
  deletedSeq: 0,
  logBytes: 0,
});
