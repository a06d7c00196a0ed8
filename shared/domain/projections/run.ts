import { assertNever } from '../../kit/assert.ts';
import type { RecordedCommit } from '../session/envelope.ts';
import type { EventOf, SessionEvent } from '../session/events.ts';
import { withoutSilence } from '../values/silence.ts';
import type { SessionsSendResult } from './schemas.ts';

/** Folds the state of runs from the log (A10/118–122). */

interface Failure {
  readonly code: string;
  readonly message: string;
}

/**
 * The state of a run (A10/118–121). A run is a command and, for a message, the turn that answers it: they share the id, unless
 * another turn answers the message together with others (B6).
 */
export type Run =
  | { readonly runId: string; readonly status: 'accepted' | 'scheduled' | 'queued' | 'running' }
  /** Its turn waits for an approval (A5/62). */
  | { readonly runId: string; readonly status: 'awaiting_approval'; readonly approvalId: string }
  /** Its turn waits for the results of these calls of the program's own tools. */
  | { readonly runId: string; readonly status: 'awaiting_results'; readonly callIds: readonly string[] }
  /** `reply` is the text people see: empty if silent (A6/77), `null` if the command has no reply. */
  | { readonly runId: string; readonly status: 'ok'; readonly reply: string | null }
  | { readonly runId: string; readonly status: 'error'; readonly error: Failure }
  /** The caller's wait has timed out; the run continues. */
  | { readonly runId: string; readonly status: 'timeout'; readonly error: Failure };

/** True when the state of the run is final. */
export const isOver = (run: Run | null): run is Extract<Run, { status: 'ok' | 'error' }> =>
  run?.status === 'ok' || run?.status === 'error';

export const failedRun = (runId: string, code: string, message: string): Run => ({
  runId,
  status: 'error',
  error: { code, message },
});
const refusals: Readonly<Record<EventOf<'message_refused'>['code'], string>> = {
  session_busy: 'another turn is running, and this session does not queue; try again later',
  queue_full: 'too many messages are waiting in this session; try again later',
  session_deleted: 'the session this was scheduled for has been deleted',
};

/**
 * A run while it is searched for. `turnId` is the turn that answers it: its own, until it is merged into another turn or joins
 * one.
 */
export interface TrackedRun {
  readonly turnId: string;
  readonly run: Run | null;
}

/**
 * The run after one event, unchanged if the event is about something else. Exhaustive, so that a new event type must be handled.
 */
const afterEvent = (traced: TrackedRun, event: SessionEvent, runId: string): TrackedRun => {
  const { turnId } = traced;
  const when = (isOurs: boolean, run: Run): TrackedRun => (isOurs ? { turnId, run } : traced);
  const carriedBy = (id: string): TrackedRun => ({ turnId: id, run: { runId, status: 'running' } });
  switch (event.type) {
    case 'turn_queued':
      return when(event.turn.id === turnId, { runId, status: 'queued' });
    case 'turn_joined':
      return event.runId === turnId ? carriedBy(event.turn.id) : traced;
    case 'turn_started':
      return [event.turn, ...(event.merged ?? [])].some(({ id }) => id === turnId) ? carriedBy(event.turn.id) : traced;
    case 'tool_call_started':
    case 'tool_result':
    case 'turn_resumed':
    case 'model_step':
    case 'approval_resolved':
      return when(event.turn.id === turnId, { runId, status: 'running' });
    case 'approval_requested':
      return when(event.turn.id === turnId && event.deferred === undefined, {
        ...{ runId, status: 'awaiting_approval', approvalId: event.approvalId },
      });
    case 'client_results_awaited':
      return when(event.turn.id === turnId, { runId, status: 'awaiting_results', callIds: event.calls });
    case 'client_results_received':
      return [event.turn.id, event.runId].includes(turnId) ? carriedBy(event.turn.id) : traced;
    case 'assistant_message':
      // If others have joined since, the turn continues, and so does the run.
      return when(
        event.turn.id === turnId,
        event.interim ? { runId, status: 'running' } : { runId, status: 'ok', reply: withoutSilence(event.text) },
      );
    case 'turn_completed':
      return when(event.turn.id === turnId && !isOver(traced.run), { runId, status: 'ok', reply: null });
    case 'turn_failed':
      return when(event.turn.id === turnId, failedRun(runId, event.code, event.message));
    case 'turn_aborted':
      return when(event.turn.id === turnId, failedRun(runId, 'aborted', event.reason));
    case 'queue_cleared':
    case 'session_deleted':
      return when(event.turnIds.includes(turnId), failedRun(runId, 'aborted', event.reason));
    case 'history_damaged':
      return when(traced.run !== null && !isOver(traced.run), failedRun(runId, 'damaged', event.reason));
    case 'message_refused':
      return when(event.turnId === turnId, failedRun(runId, event.code, refusals[event.code]));
    case 'session_opened':
    case 'session_reopened':
    case 'user_message':
    case 'message_edited':
    case 'message_withdrawn':
    case 'session_reset':
    case 'session_deactivated':
    case 'participant_resolved':
    case 'origin_changed':
    case 'route_changed':
    case 'settings_changed':
    case 'notice':
    case 'checkpoint_requested':
    case 'prompt_changed':
    case 'tool_output':
    case 'context_compacted':
    case 'runs_stopped':
    case 'skills_changed':
    case 'introspected':
    case 'introspection_failed':
    case 'memory_changed':
    case 'delivery_reported':
    case 'delivery_repeated':
      return traced;
    default:
      return assertNever(event);
  }
};

/**
 * The run after a commit. A command that starts no turn is done with its commit. A notice is the reply to a command, or of a turn
 * that ends without an answer of the model (A11).
 */
export const afterCommitOf = (before: TrackedRun, commit: RecordedCommit, runId: string): TrackedRun => {
  const after = commit.events.reduce((traced, event) => afterEvent(traced, event, runId), before);
  const isCommand = after.run === null && commit.command.id === runId;
  const endsSilently = after.run?.status === 'ok' && after.run.reply === null && !isOver(before.run);
  if (!isCommand && !endsSilently) return after;
  const notice = commit.events.find((event) => event.type === 'notice');
  return { ...after, run: { runId, status: 'ok', reply: notice?.notice.text ?? null } };
};

/** A run as of the log up to sequence `seq`. */
export interface FoundRun extends TrackedRun {
  readonly seq: number;
}

export const unknownRun = (runId: string, seq: number): FoundRun => ({ turnId: runId, run: null, seq });
/** The result for a caller who has waited: the outcome, or a timeout. */
export const waitedFor = (run: Run): SessionsSendResult => {
  const { runId } = run;
  switch (run.status) {
    case 'ok':
    case 'error':
    case 'timeout':
      return run;
    case 'accepted':
    case 'scheduled':
    case 'queued':
    case 'running':
    case 'awaiting_approval':
    case 'awaiting_results': {
      const message = `the run is ${run.status.replace('_', ' ')} and continues; wait again, or read the history later`;
      return { runId, status: 'timeout', error: { code: 'timeout', message } };
    }
    default:
      return assertNever(run);
  }
};
