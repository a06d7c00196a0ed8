import { requestOf } from '../session/answered.ts';
import { isErasure } from '../session/chain.ts';
import { settingsAfter } from '../session/context.ts';
import type { RecordedCommit } from '../session/envelope.ts';
import { type EventOf, isInteraction, type SessionEvent } from '../session/events.ts';
import { isAskedFor, type LastReset } from '../values/expiry.ts';
import { withoutSilence } from '../values/silence.ts';
import { emptyRow, type IndexRow, questionsIn } from './index-row.ts';
import {
  asking,
  described,
  firstWordsAfterReset,
  hasWaited,
  introspectionParts,
  lastMessageAfterReset,
  previewOf,
  revised,
  withFirstWords,
  withoutArguments,
  withoutQuestion,
  withoutQueued,
  withParticipant,
  withQuestion,
  wordsOf,
} from './row-parts.ts';
import { afterClearing, withoutWaiting, withWaiting } from './waiting-messages.ts';

const ended = { activeTurnId: null, status: 'idle' } as const;
/** What is left when a turn ends: questions that no turn waits for (ADR 22). */
const endedTurn = (row: IndexRow) => ({ ...ended, ...asking(null, questionsIn(row)) });

/** Why the generation began, for lists. */
const lastResetOf = ({ cause, forkedFrom }: EventOf<'session_reset'>, commit: RecordedCommit): LastReset | undefined =>
  cause && {
    at: commit.at,
    seq: commit.seq,
    trigger: cause.trigger,
    rule: cause.rule,
    ...(isAskedFor(cause) && { actor: commit.actor }),
    ...(forkedFrom && { fromSeq: forkedFrom.seq, fromRev: forkedFrom.rev }),
  };

/** What one event changes in a row. Exhaustive: for a new event type it must be decided what lists show. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table of all events
const change = (row: IndexRow, event: SessionEvent, commit: RecordedCommit): Partial<IndexRow> => {
  const { at, seq, events } = commit;
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
    case 'turn_joined':
      return withoutWaiting(row, [event.runId]);
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
        lastMessagePreview: previewOf(wordsOf(event.message)),
        lastMessageId: `${seq}.${events.indexOf(event)}`,
        ...withWaiting(row, event, `${seq}.${events.indexOf(event)}`, events),
        ...withFirstWords(row, event.message, `${seq}.${events.indexOf(event)}`),
        participants: withParticipant(row.participants, event.message.sender),
        ...(event.message.deliverTo && { lastRoute: event.message.deliverTo }),
        ...(event.turnId !== undefined && event.message.thread !== row.thread && { thread: event.message.thread }),
      };
    case 'message_edited':
      return revised(row, event, previewOf(event.text), seq);
    case 'message_withdrawn':
      return revised(row, event, '', seq);
    case 'message_refused':
      return { refusedMessages: row.refusedMessages + 1 };
    case 'turn_queued':
      return {
        queuedTurns: row.queuedTurns + 1,
        ...(event.turn.byStranger && { strangersQueued: [...(row.strangersQueued ?? []), event.turn.id] }),
      };
    case 'turn_started':
      return {
        status: 'running',
        activeTurnId: event.turn.id,
        queuedTurns: Math.max(0, row.queuedTurns - (hasWaited(event, events) ? 1 : 0) - (event.merged?.length ?? 0)),
        ...withoutQueued(row, [event.turn.id, ...(event.merged ?? []).map(({ id }) => id)]),
        ...withoutWaiting(row, [event.turn.id, ...(event.merged ?? []).map(({ id }) => id)]),
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
      return { ...endedTurn(row), completedTurns: row.completedTurns + 1, abortedLastRun: false, failedLastRun: false };
    case 'turn_failed':
      return { ...endedTurn(row), failedTurns: row.failedTurns + 1, failedLastRun: true };
    case 'turn_aborted':
      return { ...endedTurn(row), abortedLastRun: true, failedLastRun: false };
    case 'queue_cleared':
      return {
        queuedTurns: Math.max(0, row.queuedTurns - event.turnIds.length),
        ...withoutQueued(row, event.turnIds),
        ...afterClearing(row, event),
      };
    case 'approval_requested':
      return withQuestion(row, { ...withoutArguments(requestOf(event)), requestedAt: at });
    case 'approval_resolved':
      return withoutQuestion(row, event.approvalId);
    case 'client_results_awaited':
      return { status: 'awaiting_results', resultsUntil: event.expiresAt };
    case 'client_results_received':
      return { status: 'running' };
    case 'session_reset':
      return {
        ...ended,
        ...asking(null, []),
        ...(row.thread !== undefined && { thread: undefined }),
        sessionId: event.sessionId,
        generation: event.generation,
        ...(event.cause && { lastReset: lastResetOf(event, commit) }),
        messageCount: 0,
        completedTurns: 0,
        failedTurns: 0,
        ...{ failedLastRun: false, abortedLastRun: false },
        refusedMessages: 0,
        queuedTurns: event.keepsQueue ? row.queuedTurns : 0,
        strangersQueued: event.keepsQueue ? row.strangersQueued : undefined,
        ...(row.waitingMessages && { waitingMessages: undefined }),
        inputTokens: 0,
        outputTokens: 0,
        totalTokens: 0,
        contextTokens: 0,
        costUsd: 0,
        systemSent: false,
        workingMemory: '',
        ...firstWordsAfterReset(row, event, seq),
        ...lastMessageAfterReset(row, event),
        ...(row.settings.description === undefined && { description: '', descriptionSource: null }),
      };
    case 'history_damaged':
      return {
        ...ended,
        ...asking(null, []),
        queuedTurns: 0,
        strangersQueued: undefined,
        ...(row.waitingMessages && { waitingMessages: undefined }),
        settings: {},
        origin: {},
        lastRoute: null,
      };
    case 'session_deactivated':
      return { status: 'inactive' };
    // Nothing else is kept.
    case 'session_deleted':
      return { createdAt: row.createdAt, sessionId: event.sessionId, generation: event.generation, deleted: true };
  }
};

/** The row after a commit. Folding the same commit again changes nothing (idempotent by sequence). */
export const summarize = (before: IndexRow | null, commit: RecordedCommit): IndexRow => {
  if (before !== null && commit.seq <= before.seq) return before;
  // An erasure removes everything before it, even the time of creation.
  const row = before === null || isErasure(commit) ? { ...emptyRow(commit.key), createdAt: commit.at } : before;
  // One copy for all events: a row has forty fields, and every process that follows the log folds every commit.
  let changed = { ...row };
  for (const event of commit.events) {
    const changes = change(changed, event, commit);
    if (event.type === 'session_deleted') changed = { ...emptyRow(row.key), ...changes };
    else Object.assign(changed, changes);
  }
  const interactedAt = commit.events.some(isInteraction) ? Math.max(changed.interactedAt, commit.at) : changed.interactedAt;
  const deletedSeq = commit.events.some(({ type }) => type === 'session_deleted') ? commit.seq : row.deletedSeq;
  const logBytes = isErasure(commit) ? 0 : sum(row.logBytes, commit.sizeBytes);
  return Object.assign(changed, { updatedAt: commit.at, interactedAt, seq: commit.seq, rev: commit.rev, deletedSeq, logBytes });
};

const sum = (before: number | undefined, more: number | undefined): number | undefined =>
  before === undefined || more === undefined ? undefined : before + more;
