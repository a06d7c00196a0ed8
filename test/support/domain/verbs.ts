import type { CommandOf, SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { QueueRule } from '../../../shared/domain/values/queue-rule.ts';
import {
  type Ruling,
  type Sender,
  type SpawnedRun,
  sessionChannel,
  type ToolOutcome,
} from '../../../shared/domain/values/types.ts';

/** The words of the command rows in `given.ts`, each with the command that it makes. */
const usage = { inputTokens: 2, outputTokens: 3, totalTokens: 5 };

const refOf = (text = ''): { id: string; attempt: number } => {
  const [id = '', attempt = '1'] = text.split('/');
  return { id, attempt: Number(attempt) };
};

const messageOf = (messageId = '') => ({ messageId, text: `text of ${messageId}`, sender: { id: 'user-1' } });

const stepOf = (
  ref: string | undefined,
  number: string | undefined,
  kind: 'reply' | 'continue' | 'failed',
  heard?: string,
): SessionCommand => ({
  type: 'record_step',
  turn: refOf(ref),
  step: Number(number),
  ...(heard !== undefined && { heard: Number(heard) }),
  outcome:
    kind === 'failed'
      ? { kind, code: 'model_failed', message: 'no answer' }
      : { kind, text: `step ${number} of ${ref}`, model: 'test', usage },
});

/** A place for an answer: `#ubuntu`, in a thread `#ubuntu/7`, of an account `work:#ubuntu`. */
const placeOf = (text: string) => {
  const [, accountId, to = '', threadId] = /^(?:(\w+):)?([^/]+)(?:\/(\w+))?$/.exec(text) ?? [];
  return { channel: 'irc', to, ...(accountId !== undefined && { accountId }), ...(threadId !== undefined && { threadId }) };
};

const posted = (
  message: string | undefined,
  { mode, debounceMs, to }: { mode?: string | undefined; debounceMs?: string | undefined; to?: string },
): CommandOf<'post_message'> => ({
  type: 'post_message',
  sessionId: 's1',
  message: { ...messageOf(message), ...(to !== undefined && { deliverTo: placeOf(to) }) },
  ...(mode !== undefined && {
    queue: { mode: mode as QueueRule['mode'], ...(debounceMs !== undefined && { debounceMs: Number(debounceMs) }) },
  }),
});

/** Somebody who is not the owner; `bot…` is a bot on their platform. */
const personCalled = (name: string) => ({
  ...{ id: name, role: 'participant' as const, principal: `irc:${name}` },
  ...(name.startsWith('bot') && { role: 'program' as const, onBehalfOf: 'participant' as const }),
});

const spawnOf = (index: number): SpawnedRun => ({ key: 'agent:main:subagent:1', runId: `spawned-${index}` });

const requestOf = (
  approvalId: string,
  { tool = 'read', kind, until = '1000' }: { tool?: string; kind?: string; until?: string | undefined },
) => ({
  approvalId,
  action: tool,
  expiresAt: Number(until),
  hash: `hash of ${tool}`,
  asks: kind === 'retry' ? ('retry' as const) : ('run' as const),
  approvers: ['boss'],
  ...(kind === 'ask-once' && { onceOnly: true as const }),
  ...(kind?.startsWith('ask-later') && { deferred: { arguments: '{"index":0}', principal: kind.slice(10) || 'stranger' } }),
});

const toOwner = { code: 'told', text: 'asked', deliverTo: { channel: sessionChannel, to: 'agent:main:main' } };

const resultsOf = (words: readonly string[]): CommandOf<'give_results'>['results'] =>
  words.map((word) => {
    const [callId = '', outcome] = word.split(':');
    return { callId, outcome: outcome === 'error' ? 'error' : 'ok', text: `${outcome} of ${callId}` };
  });

const introspection = (fromRev: string | undefined, toRev: string | undefined, sessionId: string) => ({
  type: 'record_introspection' as const,
  sessionId,
  reason: 'manual' as const,
  fromRev: Number(fromRev),
  toRev: Number(toRev),
  toSeq: 2 * Number(toRev),
});

/** What each word of a command row means. */
export const verbs: Record<string, (...words: string[]) => SessionCommand> = {
  post: (message) => ({ type: 'post_message', sessionId: 's1', message: messageOf(message) }),
  append: (message) => ({ type: 'append_message', sessionId: 's1', message: messageOf(message) }),
  open: (sessionId = 's1') => ({ type: 'open_session', sessionId }),
  'open-by': (person = 'user-1') => ({ type: 'open_session', sessionId: 's1', by: { id: person, role: 'owner' } }),
  stop: () => ({ type: 'stop', reason: 'stop' }),
  undelivered: (outboundId = '2.0', outcome = 'unknown') => ({
    ...{ type: 'report_delivery', outboundId, kind: 'assistant_message', deliverTo: placeOf('#ubuntu'), detail: 'no answer' },
    outcome: outcome as CommandOf<'report_delivery'>['outcome'],
    ...(outcome === 'partial' && { parts: { sent: 1, of: 3 } }),
  }),
  'repeat-delivery': (outboundId = '2.0') => ({
    ...{ type: 'repeat_delivery', outboundId, kind: 'assistant_message', deliverTo: placeOf('#ubuntu'), text: 'step 1' },
    ...{ turnId: 'm1', by: { id: 'boss', role: 'owner' } },
  }),
  /** A message of somebody who is not the owner: `post-of m1 ann`, `post-of m2 bob steer`. */
  'post-of': (message, person = '', mode) => {
    const asked = posted(message, { mode });
    return { ...asked, message: { ...asked.message, sender: personCalled(person) } };
  },
  'post-of-limit': (message, person = '', limit, mode) => {
    const asked = posted(message, { mode });
    const queue = { mode: 'followup' as const, ...asked.queue, limit: Number(limit) };
    return { ...asked, message: { ...asked.message, sender: personCalled(person) }, queue };
  },
  /** The same in a session that several people share: `post-of-shared m1 ann 8`. */
  'post-of-shared': (message, person = '', limit = '8') => {
    const asked = posted(message, {});
    const queue = { mode: 'followup' as const, limit: Number(limit), shared: true as const };
    return { ...asked, message: { ...asked.message, sender: personCalled(person) }, queue };
  },
  'stop-of': (person = '') => ({ type: 'stop', reason: '/stop', by: personCalled(person) }),
  'stop-of-told': (person = '') => ({ type: 'stop', reason: '/stop', by: personCalled(person), notice: { code: 'stopped' } }),
  check: () => ({ type: 'check_history' }),
  repair: (...reason) => ({ type: 'repair_history', reason: reason.join(' ') }),
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
  cancel: (turnId = '') => ({ type: 'cancel_queued', turnId }),
  'cancel-of': (person, turnId = '') => ({ type: 'cancel_queued', turnId, by: personCalled(person) }),
  'stop-told': () => ({ type: 'stop', reason: '/stop', notice: { code: 'stopped' } }),
  /** The owner edits or withdraws the message that came with this command. */
  edit: (target = '') => ({ type: 'edit_message', target, text: 'edited', by: { id: 'boss', role: 'owner' } }),
  withdraw: (target = '') => ({ type: 'withdraw_message', target, by: { id: 'boss', role: 'owner' } }),
  delete: (mode = 'session') => ({
    type: 'delete_session',
    mode: mode === 'key' || mode === 'erased' ? mode : 'session',
    reason: 'asked',
  }),
  deactivate: () => ({ type: 'deactivate_session', reason: 'rest' }),
  resume: () => ({ type: 'resume_turn' }),
  /** The last number is how many of the messages that joined the turn the step has heard. */
  reply: (ref, number, heard) => stepOf(ref, number, 'reply', heard),
  continue: (ref, number, heard) => stepOf(ref, number, 'continue', heard),
  fail: (ref, number) => stepOf(ref, number, 'failed'),
  /** Its tokens nobody has counted, and it costs something. */
  flush: (ref, number) => ({
    ...(stepOf(ref, number, 'reply') as CommandOf<'record_step'>),
    outcome: { kind: 'reply', text: 'noted', model: 'test', usage: { ...usage, estimated: true, costUsd: 0.25 } },
    flush: true,
  }),
  /** A step with a system prompt of these parts: `prompted m1/1 1 base tools`. */
  prompted: (ref, number, ...parts) => ({
    ...(stepOf(ref, number, 'continue') as CommandOf<'record_step'>),
    prompt: parts.map((name) => ({ name, characters: name.length })),
  }),
  ask: (ref, approvalId = '', until = '1000') => ({
    type: 'request_approval',
    turn: refOf(ref),
    approvalId,
    action: 'send mail',
    expiresAt: Number(until),
  }),
  /** Sets one thing for the session: `set queueMode steer`; `default` unsets it. */
  set: (name = '', value) => ({ type: 'patch_session', settings: { [name]: value === 'default' ? null : value } }),
  'append-unaddressed': (message) => ({
    type: 'append_message',
    sessionId: 's1',
    message: messageOf(message),
    queue: { mode: 'followup' },
    unaddressed: true,
  }),
  'post-unaddressed': (message) => ({ ...posted(message, {}), unaddressed: true }),
  /** A message that brings a queue mode of its own. */
  'post-chosen': (message, mode) => {
    const command = posted(message, { mode });
    return { ...command, ...(command.queue && { queue: { ...command.queue, chosen: true } }) };
  },
  /** A message under a queue mode: `post-as m2 steer`, `post-as m2 collect 500` (debounce, ms). */
  'post-as': (message, mode, debounceMs) => posted(message, { mode, debounceMs }),
  /** A message with a place for its answer (`placeOf`): `post-to m2 #ubuntu collect`. */
  'post-to': (message, to = '', mode) => posted(message, { mode, to }),
  /** A message under a queue mode that finds the session stale. */
  'post-stale': (message, mode) => ({
    ...posted(message, { mode }),
    sessionId: `of-${message}`,
    expiry: { rule: 'session.reset', isolated: true },
  }),
  'post-limit': (message, limit, mode) => {
    const command = posted(message, { mode });
    return { ...command, queue: { mode: 'followup', ...command.queue, limit: Number(limit) } };
  },
  /** The result of a spawned run: `answers m2 spawned-0`. */
  answers: (message, run = '', mode) => {
    const command = posted(message, { mode });
    return { ...command, message: { ...command.message, answers: run } };
  },
  /**
   * A step with calls of a tool, one for each ruling: `call m1/1 1 read run deny ask`. `spawn` runs and begins another session,
   * `spawn-of:ann` for this person; `client` is the program's to run.
   */
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
      const [word, approvalId = `p${index}`] = ruling.split(':');
      if (word?.startsWith('ask-later'))
        return { kind: 'ask', request: requestOf(approvalId, { tool, kind: word }), notices: [toOwner] };
      if (word === 'ask' || word === 'ask-once') return { kind: 'ask', request: requestOf(approvalId, { tool, kind: word }) };
      if (word === 'ask-spawn') return { kind: 'ask', request: { ...requestOf(approvalId, { tool }), spawn: spawnOf(index) } };
      if (word === 'spawn-of') return { kind: 'run', spawn: { ...spawnOf(index), askedBy: personCalled(approvalId).principal } };
      if (word === 'client') return { kind: 'client', expiresAt: 1_000 };
      return { kind: 'run', ...(word === 'spawn' && { spawn: spawnOf(index) }) };
    }),
  }),
  /** A step with calls that nobody has ruled on yet. */
  'call-unruled': (ref, number, tool = 'read', count = '1') => ({
    ...(stepOf(ref, number, 'continue') as CommandOf<'record_step'>),
    outcome: {
      kind: 'continue',
      text: '',
      model: 'test',
      usage,
      calls: Array.from({ length: Number(count) }, () => ({ tool, arguments: '{}' })),
    },
  }),
  start: (ref, callId = '', spawn) => ({
    type: 'start_call',
    turn: refOf(ref),
    callId,
    ...(spawn !== undefined && { spawn: spawnOf(Number(spawn)) }),
  }),
  /**
   * The question about a call: `ask-call m1/1 m1.1.0 p1 ask`; `retry` for one that was cut off, `ask-once` for each call anew,
   * `ask-later` without waiting.
   */
  'ask-call': (ref, callId = '', approvalId = '', kind = 'ask', until) => ({
    type: 'request_approval',
    turn: refOf(ref),
    callId,
    tool: 'read',
    ...requestOf(approvalId, { kind, until }),
  }),
  result: (ref, callId = '', outcome = 'ok') => ({
    type: 'record_result',
    turn: refOf(ref),
    callId,
    outcome: outcome as ToolOutcome,
    text: `${outcome} of ${callId}`,
  }),
  /** A step with the results that it used: `reply-after m1/1 2 m1.1.0:ok m1.1.1:error`. */
  'reply-after': (ref, number, ...results) => ({
    ...(stepOf(ref, number, 'reply') as CommandOf<'record_step'>),
    results: results.map((result) => {
      const [callId = '', outcome = 'ok'] = result.split(':');
      return { callId, outcome: outcome as ToolOutcome, text: `${outcome} of ${callId}` };
    }),
  }),
  /** A result of so many bytes. */
  'long-result': (ref, callId = '', bytes = '0') => ({
    type: 'record_result',
    turn: refOf(ref),
    callId,
    outcome: 'ok',
    text: 'x'.repeat(Number(bytes)),
  }),
  /** An introspection: `checkpoint`, `checkpoint turns 5`, `checkpoint idle 400` (ms); what came of it: `introspect 1 2`, of revs. */
  checkpoint: (word, value = '1') => ({
    type: 'request_checkpoint',
    why:
      word === 'turns'
        ? { reason: 'turn_limit', turns: Number(value) }
        : word === 'idle'
          ? { reason: 'idle', idleMs: Number(value) }
          : { reason: 'manual' },
  }),
  introspect: (fromRev, toRev, sessionId = 's1') => ({
    ...introspection(fromRev, toRev, sessionId),
    result: {
      kind: 'done',
      workingMemory: `notes up to ${toRev}`,
      description: `said up to ${toRev}`,
      memory: { changes: [{ op: 'add', scope: { kind: 'session' }, text: 'likes tea' }], reach: [{ kind: 'session' }] },
      model: 'test',
      usage,
    },
  }),
  'introspect-failed': (fromRev, toRev, sessionId = 's1') => ({
    ...introspection(fromRev, toRev, sessionId),
    result: { kind: 'failed', code: 'introspection_invalid', message: 'no JSON' },
  }),
  /** A call that changes the memory, and a person who does. */
  remember: (ref, callId = '') => ({
    type: 'record_result',
    turn: refOf(ref),
    callId,
    outcome: 'ok',
    text: 'remembered',
    memory: { changes: [{ op: 'add', scope: { kind: 'session' }, text: 'likes tea' }], reach: [{ kind: 'session' }] },
  }),
  forget: (id = '') => ({
    type: 'change_memory',
    memory: { changes: [{ op: 'forget', id, reason: 'asked' }], reach: [{ kind: 'session' }] },
    by: { id: 'user-1', role: 'owner' },
  }),
  /** A step with these skills. */
  equip: (ref, number, ...skills) => ({
    ...(stepOf(ref, number, 'continue') as CommandOf<'record_step'>),
    skills: skills.map((name) => ({ name, digest: name.padEnd(64, '0') })),
  }),
  /** Back to a rev of a session whose commits have the sequences 2, 4, 6, …: `fork s2 3`. */
  fork: (sessionId = 's2', rev = '1') => ({
    type: 'fork',
    sessionId,
    from: { sessionId: 's1', seq: 2 * Number(rev), rev: Number(rev), contextSeq: 2, skips: [] },
  }),
  compact: () => ({
    type: 'compact',
    instructions: 'keep the names',
    notice: { code: 'compacted', deliverTo: { channel: 'irc', to: '#ubuntu' } },
  }),
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
  'nothing-to-compact': (ref) => ({
    type: 'record_compaction',
    turn: refOf(ref),
    result: { kind: 'nothing', reason: 'there is too little' },
  }),
  'await-results': (ref, until = '1000') => ({ type: 'await_results', turn: refOf(ref), expiresAt: Number(until) }),
  /** Results of the program's tools: `give owner m1.1.0:ok m1.1.1:error`; with a message besides, `give-saying m9 m1.1.0:ok`. */
  give: (person = '', ...results) => ({
    type: 'give_results',
    by: people[person] ?? { id: person },
    results: resultsOf(results),
  }),
  'give-saying': (message, ...results) => ({
    ...{ type: 'give_results', by: people.owner as Sender, results: resultsOf(results), said: messageOf(message) },
  }),
  'expire-results': (turnId = '') => ({ type: 'expire_results', turnId }),
  expire: (approvalId = '') => ({ type: 'expire_approval', approvalId }),
  stall: (ref) => ({ type: 'resume_turn', turn: refOf(ref), reason: 'no progress' }),
  answer: (approvalId = '', verdict, scope) => ({
    type: 'resolve_approval',
    approvalId,
    verdict: verdict === 'granted' ? 'granted' : 'denied',
    ...(scope === 'always' && { scope }),
    by: people.owner as Sender,
  }),
  /** `answer-by boss p1 granted`: see `people`. */
  'answer-by': (person = '', approvalId = '', verdict, scope) => ({
    type: 'resolve_approval',
    approvalId,
    verdict: verdict === 'granted' ? 'granted' : 'denied',
    ...(scope === 'always' && { scope }),
    by: people[person] ?? { id: person },
    notice: { code: 'approval' },
  }),
};

/** Who may answer, in the requests of these rows, is the owner and `boss`. */
export const people: Readonly<Record<string, Sender>> = {
  owner: { id: 'owner-1', role: 'owner' },
  boss: { id: 'b1', role: 'participant', principal: 'boss' },
  stranger: { id: 's1', role: 'participant', principal: 'stranger' },
  /** Says it is somebody; nobody has found out whether it is. */
  claimer: { id: 'boss', name: 'owner-1' },
  program: { id: 'boss', role: 'program' },
};
