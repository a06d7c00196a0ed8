import { expect } from 'vitest';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import { type Decision, decide, type RefusalCode } from '../../../shared/domain/session/decide/index.ts';
import type { CommandEnvelope, Commit, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { evolve, fold, initialState, type SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import { assertNever } from '../../../shared/kit/assert.ts';
import { recorded } from './commits.ts';
import { verbs } from './verbs.ts';

/**
 * `given(history).when(command).then(events)` with one line of text per command and event, so that a test reads as a story:
 *
 *     given('post m1', 'post m2').when('stop').then('queue_cleared m2', 'turn_aborted m1/1 stop')
 *
 * A turn has the id of the message that asked for it; `m1/2` is the second attempt at it. A row may end in `@TIME`.
 */
export const key = 'agent:main:test' as SessionKey;

/** A command in its envelope. A posted message's command has the message's id, which thereby is its turn's id. */
const envelope = (data: SessionCommand, commandId: string, at = 100): CommandEnvelope => {
  const id = (data.type === 'post_message' || data.type === 'reset' ? data.message?.messageId : undefined) ?? commandId;
  return { id, key, at, correlationId: id, causationId: id, actor: 'test', data };
};

/** Reads a command row. */
export const command = (row: string, id = `command ${row}`): CommandEnvelope => {
  const [words = '', at = '100'] = row.split(' @');
  const [verb = '', ...rest] = words.split(' ');
  const make = verbs[verb];
  if (verb === 'compact') return envelope(verbs.compact?.() as SessionCommand, rest[0] ?? id, Number(at));
  if (make === undefined) throw new Error(`no command is called "${verb}" in "${row}"`);
  return envelope(make(...rest), id, Number(at));
};

/** One line of text for an event: its type and what tells it from others of its type. */
export const rowOf = (event: SessionEvent): string => {
  const turn = 'turn' in event && 'attempt' in event.turn ? `${event.turn.id}/${event.turn.attempt}` : '';
  switch (event.type) {
    case 'session_opened':
      return `${event.type} ${event.sessionId} g${event.generation}`;
    case 'session_reopened':
    case 'session_deactivated':
      return event.type;
    case 'participant_resolved':
      return `${event.type} ${event.participant.id}`;
    case 'origin_changed':
      return `${event.type} ${event.origin.label}`;
    case 'route_changed':
      return `${event.type} ${event.deliverTo.to}`;
    case 'settings_changed':
      return `${event.type} ${JSON.stringify(event.changes)}`;
    case 'notice':
      return `${event.type} ${event.notice.code}`;
    case 'checkpoint_requested':
      return `${event.type} ${event.reason} ${event.sessionId} ${event.fromRev}-${event.toRev}`;
    case 'introspected':
      return `${event.type} ${event.reason} ${event.sessionId} ${event.fromRev}-${event.toRev}`;
    case 'introspection_failed':
      return `${event.type} ${event.sessionId} ${event.code}`;
    case 'memory_changed':
      return `${event.type} ${event.by} ${event.changes.map(({ op }) => op).join(' ')}`;
    case 'skills_changed':
      return `${event.type} ${event.skills.map(({ name }) => name).join(' ')}`;
    case 'session_deleted':
      return [event.type, event.mode, `g${event.generation}`, `e${event.epoch}`, ...event.turnIds].join(' ');
    case 'history_damaged':
      return `${event.type} ${event.damage} ${event.fromRev}-${event.toRev} g${event.generation} e${event.epoch}`;
    case 'delivery_reported':
      return `${event.type} ${event.outboundId} ${event.outcome}${event.past ? ' past' : ''}`;
    case 'delivery_repeated':
      return `${event.type} ${event.outboundId} by ${event.by}`;
    case 'user_message':
      return `${event.type} ${event.message.messageId}${event.turnId === undefined ? '' : ' for a turn'}`;
    case 'message_edited':
    case 'message_withdrawn':
      return `${event.type} ${event.messageId} ${event.of}`;
    case 'message_refused':
      return `${event.type} ${event.messageId} ${event.code}`;
    case 'turn_queued':
      return `${event.type} ${event.turn.id} #${event.position}`;
    case 'turn_started':
      return `${event.type} ${event.turn.id}/${event.attempt}`;
    case 'turn_resumed':
      return `${event.type} ${turn} step ${event.step}`;
    case 'model_step':
      return `${event.type} ${turn} ${event.step} ${event.finish}`;
    case 'assistant_message':
    case 'turn_completed':
      return `${event.type} ${turn}`;
    case 'turn_failed':
      return `${event.type} ${turn} ${event.code}`;
    case 'turn_aborted':
      return `${event.type} ${turn} ${event.reason}`;
    case 'queue_cleared':
      return `${event.type} ${event.turnIds.join(' ')}`;
    case 'turn_joined':
      return `${event.type} ${turn} ${event.messageId}`;
    case 'prompt_changed':
      return `${event.type} ${event.parts.map(({ name }) => name).join(' ')}`;
    case 'tool_call_started':
      return `${event.type} ${turn} ${event.callId} #${event.callAttempt}`;
    case 'tool_result':
      return `${event.type} ${turn} ${event.callId} ${event.outcome}`;
    case 'tool_output':
      return `${event.type} ${event.callId} page ${event.page}`;
    case 'context_compacted':
      return `${event.type} ${turn} through ${event.throughRev}`;
    case 'runs_stopped':
      return `${event.type} ${event.runs.map(({ runId }) => runId).join(' ')}`;
    case 'client_results_awaited':
      return `${event.type} ${turn} ${event.calls.join(' ')}`;
    case 'client_results_received':
      return `${event.type} ${turn} by ${event.by}`;
    case 'approval_requested':
      return `${event.type} ${turn} ${event.approvalId}`;
    case 'approval_resolved':
      return `${event.type} ${turn} ${event.approvalId} ${event.verdict}`;
    case 'session_reset':
      return `${event.type} ${event.previousSessionId} to ${event.sessionId} g${event.generation}${event.forkedFrom ? ` from ${event.forkedFrom.rev}` : ''}`;
    default:
      return assertNever(event);
  }
};

/** The commit these events make, as the log gives it back. `origin` is the command's sequence in the command stream, `null` for a host's own. */
export const commitOf = (
  { machine, position }: SessionState,
  { id, at, correlationId, actor, order, call }: CommandEnvelope,
  events: readonly SessionEvent[],
  origin: number | null = null,
): RecordedCommit => {
  const { sessionId, epoch } = events.reduce(evolve, machine).context;
  const rev = position.rev + 1;
  const ids = {
    id: `commit-${rev}`,
    correlationId,
    causationId: id,
    command: { id, seq: origin, incarnation: origin === null ? null : 1, ...(order && { order }), ...(call && { call }) },
  };
  const commit: Commit = { v: 2, ...ids, key, rev, prev: position.digest, sessionId, epoch, at, actor, events };
  return recorded(commit, position.seq + 2, at);
};

/** What a history of command rows, commands and events leaves: the commits, and the state after them. A refusal breaks the story. */
export const tell = (
  ...history: (string | CommandEnvelope | SessionEvent)[]
): { state: SessionState; commits: RecordedCommit[] } => {
  let state = initialState;
  const commits: RecordedCommit[] = [];
  for (const [index, item] of history.entries()) {
    const asked = typeof item === 'string' ? command(item, `c${index}`) : 'data' in item ? item : command('resume', `c${index}`);
    const decision: Decision = typeof item === 'object' && 'type' in item ? { accept: [item] } : decide(asked, state);
    if ('refuse' in decision) throw new Error(`the story breaks at "${asked.data.type}": ${decision.refuse}`);
    if (decision.accept.length === 0) continue;
    const commit = commitOf(state, asked, decision.accept);
    state = fold(state, commit);
    commits.push(commit);
  }
  return { state, commits };
};
export const stateAfter = (...history: (string | CommandEnvelope | SessionEvent)[]): SessionState => tell(...history).state;

export const given = (...history: (string | CommandEnvelope | SessionEvent)[]) => ({
  when: (asked: string | CommandEnvelope) => {
    const state = stateAfter(...history);
    const decision = decide(typeof asked === 'string' ? command(asked) : asked, state);
    const events = 'accept' in decision ? decision.accept : [];
    const rows = 'accept' in decision ? events.map(rowOf) : [`refused: ${decision.refuse}`];
    return {
      events,
      rows,
      /** Exactly these events, and the machine takes them. */
      // biome-ignore lint/suspicious/noThenProperty: nobody awaits a story; given, when, then are the words for it.
      then: (...expected: readonly string[]) => {
        expect(rows).toEqual(expected);
        events.reduce(evolve, state.machine);
      },
      thenNothing: () => expect(rows).toEqual([]),
      thenRefused: (code: RefusalCode) => expect(rows).toEqual([`refused: ${code}`]),
    };
  },
});
