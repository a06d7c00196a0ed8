import { expect } from 'vitest';
import { assertNever } from '../../shared/kit/assert.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { SessionCommand } from '../../shared/session/commands.ts';
import { type Decision, decide, type RefusalCode } from '../../shared/session/decide/index.ts';
import type { SessionEvent } from '../../shared/session/events.ts';
import { evolve, fold, initialState, type SessionState } from '../../shared/session/evolve.ts';
import type { QueueRule, Ruling, ToolOutcome } from '../../shared/session/types.ts';
import type { CommandEnvelope, RecordedCommit } from '../../shared/wire/envelope.ts';

/**
 * `given(history).when(command).then(events)` with one line of text per command and event, so that a test reads as a story:
 *
 *     given('post m1', 'post m2').when('stop').then('queue_cleared m2', 'turn_aborted m1/1 stop')
 *
 * A turn has the id of the message that asked for it; `m1/2` is the second attempt at it. A row may end in `@TIME`.
 */
export const key = 'agent:main:test' as SessionKey;

const usage = { inputTokens: 2, outputTokens: 3, totalTokens: 5 };

const refOf = (text = ''): { id: string; attempt: number } => {
  const [id = '', attempt = '1'] = text.split('/');
  return { id, attempt: Number(attempt) };
};

const messageOf = (messageId = '') => ({ messageId, text: `text of ${messageId}`, sender: { id: 'user-1' } });

const step = (ref: string | undefined, number: string | undefined, kind: 'reply' | 'continue' | 'failed'): SessionCommand => ({
  type: 'record_step',
  turn: refOf(ref),
  step: Number(number),
  outcome:
    kind === 'failed'
      ? { kind, code: 'model_failed', message: 'no answer' }
      : { kind, text: `step ${number} of ${ref}`, model: 'test', usage },
});

/** What each word of a command row means. */
const verbs: Record<string, (...words: string[]) => SessionCommand> = {
  post: (message) => ({ type: 'post_message', sessionId: 's1', message: messageOf(message) }),
  append: (message) => ({ type: 'append_message', sessionId: 's1', message: messageOf(message) }),
  open: (sessionId = 's1') => ({ type: 'open_session', sessionId }),
  'open-by': (person = 'user-1') => ({ type: 'open_session', sessionId: 's1', by: { id: person, role: 'owner' } }),
  stop: () => ({ type: 'stop', reason: 'stop' }),
  reset: (sessionId = 's2', message) => ({
    type: 'reset',
    sessionId,
    cause: { trigger: 'command', rule: '/new' },
    ...(message && { message: messageOf(message) }),
  }),
  /** A message under a policy: `post-under m2 s2 idle 60`, `… daily 500` (a boundary, ms), `… isolated`. */
  'post-under': (message, sessionId = 's2', kind, value) => ({
    type: 'post_message',
    sessionId,
    message: messageOf(message),
    expiry: {
      rule: 'session.reset',
      ...(kind === 'idle' && { idleMinutes: Number(value) }),
      ...(kind === 'daily' && { dailyBoundaryAt: Number(value) }),
      ...(kind === 'isolated' && { isolated: true as const }),
    },
  }),
  origin: (label) => ({ type: 'record_origin', sessionId: 's1', origin: { label } }),
  route: (to = '') => ({ type: 'record_origin', sessionId: 's1', deliverTo: { channel: 'irc', to } }),
  send: (word) => ({ type: 'patch_session', settings: { sendPolicy: word === 'deny' || word === 'allow' ? word : null } }),
  notice: (text = '') => ({ type: 'post_notice', notice: { code: 'told', text } }),
  report: () => ({
    type: 'report',
    facts: { kind: 'status', model: 'offline', parts: [], warnings: [] },
    notice: { code: 'status' },
  }),
  'stop-told': () => ({ type: 'stop', reason: '/stop', notice: { code: 'stopped' } }),
  delete: (mode = 'session') => ({
    type: 'delete_session',
    mode: mode === 'key' || mode === 'erased' ? mode : 'session',
    reason: 'asked',
  }),
  deactivate: () => ({ type: 'deactivate_session', reason: 'rest' }),
  resume: () => ({ type: 'resume_turn' }),
  reply: (ref, number) => step(ref, number, 'reply'),
  continue: (ref, number) => step(ref, number, 'continue'),
  fail: (ref, number) => step(ref, number, 'failed'),
  ask: (ref, approvalId = '', until = '1000') => ({
    type: 'request_approval',
    turn: refOf(ref),
    approvalId,
    action: 'send mail',
    expiresAt: Number(until),
  }),
  /** A message under a queue mode: `post-as m2 steer`, `post-as m2 collect 500` (debounce, ms). */
  'post-as': (message, mode = 'followup', debounceMs) => ({
    type: 'post_message',
    sessionId: 's1',
    message: messageOf(message),
    queue: { mode: mode as QueueRule['mode'], ...(debounceMs !== undefined && { debounceMs: Number(debounceMs) }) },
  }),
  /** A step with calls of a tool, one for each ruling: `call m1/1 1 read run deny ask`. `spawn` runs and begins another session. */
  call: (ref, number, tool = 'read', ...rulings) => ({
    type: 'record_step',
    turn: refOf(ref),
    step: Number(number),
    outcome: {
      kind: 'continue',
      text: '',
      model: 'test',
      usage,
      calls: rulings.map((_, index) => ({ tool, arguments: JSON.stringify({ index }) })),
    },
    rulings: rulings.map((ruling, index): Ruling => {
      if (ruling === 'deny') return { kind: 'deny', reason: 'the policy says no' };
      if (ruling === 'ask') {
        return { kind: 'ask', request: { approvalId: `p${index}`, action: tool, expiresAt: 1_000, hash: `h${index}` } };
      }
      const spawn = { key: 'agent:main:subagent:1', runId: `spawned-${index}` };
      return { kind: 'run', ...(ruling === 'spawn' && { spawn }) };
    }),
  }),
  start: (ref, callId = '') => ({ type: 'start_call', turn: refOf(ref), callId }),
  result: (ref, callId = '', outcome = 'ok') => ({
    type: 'record_result',
    turn: refOf(ref),
    callId,
    outcome: outcome as ToolOutcome,
    text: `${outcome} of ${callId}`,
  }),
  compact: () => ({ type: 'compact', notice: { code: 'compacted' } }),
  compacted: (ref, throughRev, keptFromSeq) => ({
    type: 'record_compaction',
    turn: refOf(ref),
    result: {
      kind: 'compacted',
      summary: 'what was said',
      throughRev: Number(throughRev),
      keptFromSeq: Number(keptFromSeq),
      tokensBefore: 90,
      tokensAfter: 10,
      model: 'test',
      usage,
    },
  }),
  expire: (approvalId = '') => ({ type: 'expire_approval', approvalId }),
  stall: (ref) => ({ type: 'resume_turn', turn: refOf(ref), reason: 'no progress' }),
  answer: (approvalId = '', verdict, scope) => ({
    type: 'resolve_approval',
    approvalId,
    verdict: verdict === 'granted' ? 'granted' : 'denied',
    ...(scope === 'always' && { scope }),
    by: { id: 'owner-1', role: 'owner' },
  }),
};

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
    case 'session_deleted':
      return [event.type, event.mode, `g${event.generation}`, `e${event.epoch}`, ...event.turnIds].join(' ');
    case 'user_message':
      return `${event.type} ${event.message.messageId}${event.turnId === undefined ? '' : ' for a turn'}`;
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
    case 'approval_requested':
      return `${event.type} ${turn} ${event.approvalId}`;
    case 'approval_resolved':
      return `${event.type} ${turn} ${event.approvalId} ${event.verdict}`;
    case 'session_reset':
      return `${event.type} ${event.previousSessionId} to ${event.sessionId} g${event.generation}`;
    default:
      return assertNever(event);
  }
};

/** The commit these events make, as the log gives it back. `origin` is the command's sequence in the command stream, `null` for a host's own. */
export const commitOf = (
  { machine, position }: SessionState,
  { id, at, correlationId, actor }: CommandEnvelope,
  events: readonly SessionEvent[],
  origin: number | null = null,
): RecordedCommit => {
  const { sessionId, epoch } = events.reduce(evolve, machine).context;
  const rev = position.rev + 1;
  const ids = {
    id: `commit-${rev}`,
    correlationId,
    causationId: id,
    command: { id, seq: origin, incarnation: origin === null ? null : 1 },
  };
  return { v: 1, ...ids, key, rev, sessionId, epoch, at, actor, events, seq: position.seq + 2, recordedAt: at };
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
