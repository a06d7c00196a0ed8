import { limits } from '../kit/limits.ts';
import type { SessionKey } from '../routing/session-key.ts';
import type { RecordedCommit } from '../wire/envelope.ts';
import type { SessionEvent } from './events.ts';
import type { SessionStatus } from './machine.ts';
import type { DeliveryTarget, SessionSource } from './types.ts';

/** A row of the session index (A2/17): what lists and status pages show, folded from the log and never the truth. */
export interface IndexRow {
  readonly key: SessionKey;
  readonly sessionId: string;
  readonly generation: number;
  readonly status: SessionStatus;
  readonly source: SessionSource | null;
  readonly createdAt: number;
  /** Time of the last commit, ms. */
  readonly updatedAt: number;
  /** Sequence and `rev` of the last commit in this row. */
  readonly seq: number;
  readonly rev: number;
  readonly messageCount: number;
  readonly completedTurns: number;
  readonly failedTurns: number;
  readonly refusedMessages: number;
  readonly queuedTurns: number;
  readonly activeTurnId: string | null;
  readonly lastMessagePreview: string;
  /** Sender ids, oldest first, bounded. */
  readonly participants: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly lastRoute: DeliveryTarget | null;
}

const emptyRow = (key: SessionKey): IndexRow => ({
  key,
  sessionId: '',
  generation: 0,
  status: 'inactive',
  source: null,
  createdAt: 0,
  updatedAt: 0,
  seq: 0,
  rev: 0,
  messageCount: 0,
  completedTurns: 0,
  failedTurns: 0,
  refusedMessages: 0,
  queuedTurns: 0,
  activeTurnId: null,
  lastMessagePreview: '',
  participants: [],
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  lastRoute: null,
});

const previewOf = (text: string): string => {
  const line = text.replace(/\s+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= limits.previewCharacters ? line : `${characters.slice(0, limits.previewCharacters - 1).join('')}…`;
};

const joined = (participants: readonly string[], id: string): readonly string[] =>
  participants.includes(id) ? participants : [...participants, id].slice(-limits.participants);

const ended = { activeTurnId: null, status: 'idle' } as const;

/** What one event changes in a row. Exhaustive: a new event type must decide here what lists show of it. */
const change = (row: IndexRow, event: SessionEvent): Partial<IndexRow> => {
  switch (event.type) {
    case 'session_opened':
      return { sessionId: event.sessionId, generation: event.generation, source: event.source, status: 'idle' };
    case 'session_reopened':
      return { status: 'idle' };
    case 'user_message':
      return {
        messageCount: row.messageCount + 1,
        lastMessagePreview: previewOf(event.message.text),
        participants: joined(row.participants, event.message.sender.id),
        ...(event.message.deliverTo && { lastRoute: event.message.deliverTo }),
      };
    case 'message_refused':
      return { refusedMessages: row.refusedMessages + 1 };
    case 'turn_queued':
      return { queuedTurns: row.queuedTurns + 1 };
    case 'turn_started':
      return {
        status: 'running',
        activeTurnId: event.turn.id,
        queuedTurns: Math.max(0, row.queuedTurns - (row.status === 'idle' && row.queuedTurns > 0 ? 1 : 0)),
      };
    case 'turn_resumed':
      return { status: 'running' };
    case 'model_step':
      return {
        inputTokens: row.inputTokens + event.usage.inputTokens,
        outputTokens: row.outputTokens + event.usage.outputTokens,
        totalTokens: row.totalTokens + event.usage.totalTokens,
      };
    case 'assistant_message':
      return { messageCount: row.messageCount + 1, lastMessagePreview: previewOf(event.text) };
    case 'turn_completed':
      return { ...ended, completedTurns: row.completedTurns + 1 };
    case 'turn_failed':
      return { ...ended, failedTurns: row.failedTurns + 1 };
    case 'turn_aborted':
      return ended;
    case 'queue_cleared':
      return { queuedTurns: 0 };
    case 'approval_requested':
      return { status: 'awaiting_approval' };
    case 'approval_resolved':
      return { status: 'running' };
    case 'session_reset':
      return {
        ...ended,
        sessionId: event.sessionId,
        generation: event.generation,
        messageCount: 0,
        completedTurns: 0,
        failedTurns: 0,
        refusedMessages: 0,
        queuedTurns: 0,
        inputTokens: 0,
        outputTokens: 0,
        totalTokens: 0,
      };
    case 'session_deactivated':
      return { status: 'inactive' };
  }
};

/** The row after a commit. Folding the same commit again changes nothing (idempotent by sequence). */
export const summarize = (before: IndexRow | null, commit: RecordedCommit): IndexRow => {
  const row = before ?? { ...emptyRow(commit.key), createdAt: commit.at };
  if (commit.seq <= row.seq) return row;
  let changed = row;
  for (const event of commit.events) changed = { ...changed, ...change(changed, event) };
  return { ...changed, updatedAt: commit.at, seq: commit.seq, rev: commit.rev };
};
