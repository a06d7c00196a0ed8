import type { SessionKey } from '../keys/session-key.ts';
import { requestOf } from '../session/answered.ts';
import { isErasure } from '../session/chain.ts';
import { settingsAfter } from '../session/context.ts';
import type { RecordedCommit } from '../session/envelope.ts';
import { type EventOf, isInteraction, type SessionEvent } from '../session/events.ts';
import type { SessionStatus } from '../session/machine.ts';
import { withoutSilence } from '../values/silence.ts';
import type { ApprovalRequest, DeliveryTarget, Origin, SessionSource, Settings } from '../values/types.ts';
import { described, introspectionParts, previewOf, type Revision, revised, withParticipant } from './row-parts.ts';

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
  readonly activeTurnId: string | null;
  /** The pending approval, and since when, ms (A5/62). */
  readonly approval: (ApprovalRequest & { readonly requestedAt: number }) | null;
  readonly costUsd: number;
  readonly lastMessagePreview: string;
  /** The event of that message: `<seq>.<index>`. */
  readonly lastMessageId?: string;
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
}

const emptyRow = (key: SessionKey): IndexRow => ({
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
  participants: [],
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  contextTokens: 0,
  model: '',
  systemSent: false,
  abortedLastRun: false,
  description: '',
  descriptionSource: null,
  workingMemory: '',
  introspectedAt: 0,
  settings: {},
  origin: {},
  lastRoute: null,
  deleted: false,
  deletedSeq: 0,
});

const ended = { activeTurnId: null, status: 'idle' } as const;
/** What is left when a turn ends: a question that no turn waits for (ADR 22). */
const endedTurn = ({ approval }: IndexRow) => ({ ...ended, approval: approval?.deferred ? approval : null });

/** Lists show the action; the arguments may be long. */
const withoutArguments = (request: ApprovalRequest): ApprovalRequest =>
  request.deferred ? { ...request, deferred: { ...request.deferred, arguments: '' } } : request;

/** True if the turn was queued. A turn that starts in the commit of its message was not. */
const hasWaited = ({ turn }: EventOf<'turn_started'>, events: readonly SessionEvent[]): boolean =>
  !events.some((event) => event.type === 'user_message' && event.turnId === turn.id);

/** What one event changes in a row. Exhaustive: for a new event type it must be decided what lists show. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table of all events
const change = (row: IndexRow, event: SessionEvent, { at, seq, events }: RecordedCommit): Partial<IndexRow> => {
  switch (event.type) {
    case 'session_opened':
      return { sessionId: event.sessionId, generation: event.generation, source: event.source, status: 'idle', deleted: false };
    case 'session_reopened':
      return { status: 'idle' };
    case 'participant_resolved':
      return { participants: withParticipant(row.participants, event.participant) };
    case 'origin_changed':
      return { origin: event.origin };
    case 'route_changed':
      return { lastRoute: event.deliverTo };
    case 'settings_changed':
      return described(settingsAfter(row.settings, event.changes), event.changes.description);
    case 'notice':
    case 'checkpoint_requested':
    case 'turn_joined':
    case 'prompt_changed':
    case 'tool_call_started':
    case 'tool_result':
    case 'tool_output':
    case 'runs_stopped':
    case 'skills_changed':
    case 'introspection_failed':
    case 'memory_changed':
    case 'delivery_reported':
    case 'delivery_repeated':
      return {};
    case 'introspected':
      return event.sessionId === row.sessionId ? introspectionParts(row, event, at) : {};
    case 'context_compacted':
      return {
        inputTokens: row.inputTokens + event.usage.inputTokens,
        outputTokens: row.outputTokens + event.usage.outputTokens,
        totalTokens: row.totalTokens + event.usage.totalTokens,
        contextTokens: event.tokensAfter,
        costUsd: row.costUsd + (event.usage.costUsd ?? 0),
      };
    case 'user_message':
      return {
        messageCount: row.messageCount + 1,
        lastMessagePreview: previewOf(event.message.text),
        lastMessageId: `${seq}.${events.indexOf(event)}`,
        participants: withParticipant(row.participants, event.message.sender),
        ...(event.message.deliverTo && { lastRoute: event.message.deliverTo }),
      };
    case 'message_edited':
      return revised(row, event, previewOf(event.text), seq);
    case 'message_withdrawn':
      return revised(row, event, '', seq);
    case 'message_refused':
      return { refusedMessages: row.refusedMessages + 1 };
    case 'turn_queued':
      return { queuedTurns: row.queuedTurns + 1 };
    case 'turn_started':
      return {
        status: 'running',
        activeTurnId: event.turn.id,
        queuedTurns: Math.max(0, row.queuedTurns - (hasWaited(event, events) ? 1 : 0) - (event.merged?.length ?? 0)),
      };
    case 'turn_resumed':
      return { status: 'running' };
    case 'model_step':
      return {
        inputTokens: row.inputTokens + event.usage.inputTokens,
        outputTokens: row.outputTokens + event.usage.outputTokens,
        totalTokens: row.totalTokens + event.usage.totalTokens,
        contextTokens: event.usage.inputTokens + event.usage.outputTokens,
        costUsd: row.costUsd + (event.usage.costUsd ?? 0),
        model: event.model,
        systemSent: true,
      };
    case 'assistant_message':
      return {
        messageCount: row.messageCount + 1,
        lastMessagePreview: previewOf(withoutSilence(event.text)) || row.lastMessagePreview,
        lastMessageId: `${seq}.${events.indexOf(event)}`,
      };
    case 'turn_completed':
      return { ...endedTurn(row), completedTurns: row.completedTurns + 1, abortedLastRun: false };
    case 'turn_failed':
      return { ...endedTurn(row), failedTurns: row.failedTurns + 1 };
    case 'turn_aborted':
      return { ...endedTurn(row), abortedLastRun: true };
    case 'queue_cleared':
      return { queuedTurns: Math.max(0, row.queuedTurns - event.turnIds.length) };
    case 'approval_requested':
      return {
        approval: { ...withoutArguments(requestOf(event)), requestedAt: at },
        ...(event.deferred === undefined && { status: 'awaiting_approval' as const }),
      };
    case 'approval_resolved':
      return { approval: null, ...(row.status === 'awaiting_approval' && { status: 'running' as const }) };
    case 'session_reset':
      return {
        ...ended,
        approval: null,
        sessionId: event.sessionId,
        generation: event.generation,
        messageCount: 0,
        completedTurns: 0,
        failedTurns: 0,
        refusedMessages: 0,
        queuedTurns: event.keepsQueue ? row.queuedTurns : 0,
        inputTokens: 0,
        outputTokens: 0,
        totalTokens: 0,
        contextTokens: 0,
        costUsd: 0,
        systemSent: false,
        workingMemory: '',
        ...(row.settings.description === undefined && { description: '', descriptionSource: null }),
      };
    case 'history_damaged':
      return { ...ended, approval: null, queuedTurns: 0, settings: {}, origin: {}, lastRoute: null };
    case 'session_deactivated':
      return { status: 'inactive' };
    case 'session_deleted': {
      const { createdAt } = row;
      const { sessionId, generation } = event;
      return { ...emptyRow(row.key), createdAt, sessionId, generation, deleted: true };
    }
  }
};

/** The row after a commit. Folding the same commit again changes nothing (idempotent by sequence). */
export const summarize = (before: IndexRow | null, commit: RecordedCommit): IndexRow => {
  if (before !== null && commit.seq <= before.seq) return before;
  // An erasure removes everything before it, even the time of creation.
  const row = before === null || isErasure(commit) ? { ...emptyRow(commit.key), createdAt: commit.at } : before;
  let changed = row;
  for (const event of commit.events) changed = { ...changed, ...change(changed, event, commit) };
  const interactedAt = commit.events.some(isInteraction) ? Math.max(changed.interactedAt, commit.at) : changed.interactedAt;
  const deletedSeq = commit.events.some(({ type }) => type === 'session_deleted') ? commit.seq : row.deletedSeq;
  return { ...changed, updatedAt: commit.at, interactedAt, seq: commit.seq, rev: commit.rev, deletedSeq };
};
