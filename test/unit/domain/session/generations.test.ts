import { describe, expect, test } from 'vitest';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { sessionIdsOf } from '../../../../shared/domain/projections/session-ids.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import type { SessionCommand } from '../../../../shared/domain/session/commands.ts';
import { type CommandEnvelope, commandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import { staleness } from '../../../../shared/domain/values/expiry.ts';
import type { Origin } from '../../../../shared/domain/values/types.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { decodeCommit, encodeCommit } from '../../../../shared/wire/codec.ts';
import { unrecorded } from '../../../support/domain/commits.ts';
import { command, given, stateAfter, tell } from '../../../support/domain/given.ts';
import { routed } from '../routing/support.ts';

const asking = (data: SessionCommand, at = 100): CommandEnvelope => ({ ...command('open', 'asked'), at, data });
const hour = 3_600_000;

describe('expiry is judged when the next message comes, and never by a timer (A4/43)', () => {
  const talked = ['post m1 @1000', 'reply m1/1 1 @1000'] as const;
  const renewed = [
    'checkpoint_requested new_session s1 1-2',
    'session_reset s1 to s2 g2',
    'user_message m2 for a turn',
    'turn_started m2/1',
  ];
  const fresh = ['user_message m2 for a turn', 'turn_started m2/1'];

  test.each([
    ['A4/45: last updated before the daily boundary', 'post-under m2 s2 daily 1001 @5000', renewed],
    ['A4/45: last updated at the daily boundary', 'post-under m2 s2 daily 1000 @5000', fresh],
    ['A4/46, 49: the idle window is over', `post-under m2 s2 idle 60 @${1_000 + hour + 1}`, renewed],
    ['A4/46: the idle window ends now', `post-under m2 s2 idle 60 @${1_000 + hour}`, fresh],
    ['A4/43: no expiry came with the message', 'post m2 @999999999', fresh],
    ['A4/57: an isolated job begins anew with each run', 'post-under m2 s2 isolated @1001', renewed],
    ['a message from before the last update', 'post-under m2 s2 idle 1 @10', fresh],
  ])('%s', (_, asked, outcome) => {
    given(...talked)
      .when(asked)
      .then(...outcome);
  });

  test('A4/43, 45: a message that is only remembered ends a stale session too, and is the first of the new one', () => {
    const expiry = { rule: 'session.resetByType.group', dailyBoundaryAt: 5_000 };
    const message = { messageId: 'm2', text: '', sender: { id: 'u' } };
    const append = asking({ type: 'append_message', sessionId: 's2', expiry, message }, 6_000);
    given(...talked)
      .when(append)
      .then('checkpoint_requested new_session s1 1-2', 'session_reset s1 to s2 g2', 'user_message m2');
    expect(stateAfter(...talked, append).machine.context.messages).toBe(1);
    given(...talked, append)
      .when('post-under m3 s3 daily 5000 @6001')
      .then('user_message m3 for a turn', 'turn_started m3/1');
  });

  test('A4/47: of daily and idle the one that expired first is the cause', () => {
    const both = { rule: 'session.reset', dailyBoundaryAt: 5 * hour, idleMinutes: 60 };
    expect(staleness(both, 4.5 * hour, 6 * hour)).toMatchObject({ trigger: 'daily', boundaryAt: 5 * hour });
    expect(staleness(both, 2 * hour, 6 * hour)).toMatchObject({ trigger: 'idle', boundaryAt: 3 * hour, lastUpdateAt: 2 * hour });
  });

  test('a session whose turn runs or waits for a person is not reset under their feet', () => {
    const queued = ['user_message m2 for a turn', 'turn_queued m2 #1'];
    given('post m1 @0')
      .when('post-under m2 s2 isolated @99')
      .then(...queued);
    given('post m1 @0', 'ask m1/1 p1')
      .when('post-under m2 s2 isolated @99')
      .then(...queued);
  });

  test('A4/43, 57: a message that waited in a stale session starts the new generation when its turn starts', () => {
    const waited = ['post m1 @0', 'post-under m2 s2 isolated @99', 'post m3 @100'] as const;
    given(...waited)
      .when('reply m1/1 1')
      .then(
        ...['model_step m1/1 1 stop', 'assistant_message m1/1', 'turn_completed m1/1'],
        ...['checkpoint_requested new_session s1 1-4', 'session_reset s1 to s2 g2', 'turn_started m2/1'],
      );
    const { context } = stateAfter(...waited, 'reply m1/1 1').machine;
    expect(context).toMatchObject({ sessionId: 's2', generation: 2, epoch: 1, turn: { id: 'm2' }, queue: [{ id: 'm3' }] });
    given(...waited, 'reply m1/1 1')
      .when('fail m2/1 1')
      .then('turn_failed m2/1 model_failed', 'turn_started m3/1');
  });

  test('A4/57: each of several runs that overlap has a session id of its own', () => {
    const runs = ['post-under m1 s1 isolated @1', 'post-under m2 s2 isolated @2', 'post-under m3 s3 isolated @3'] as const;
    const ids = [0, 1, 2].map((done) => {
      const replies = ['reply m1/1 1', 'reply m2/1 1'].slice(0, done);
      const { context } = stateAfter(...runs, ...replies).machine;
      return [context.turn?.id, context.sessionId];
    });
    expect(ids).toEqual([
      ['m1', 's1'],
      ['m2', 's2'],
      ['m3', 's3'],
    ]);
  });

  test('the events of a commit belong to the session before a reset and to the one after it', () => {
    const { commits } = tell('post m1 @0', 'post-under m2 s2 isolated @99', 'reply m1/1 1');
    const last = commits.at(-1);
    expect(last && sessionIdsOf(last)).toEqual(['s1', 's1', 's1', 's1', 's2', 's2']);
  });

  test('B11: housekeeping does not keep a session fresh', () => {
    const idle = stateAfter(...talked, 'send deny @9000', 'notice hi @9500').position;
    expect([idle.at, idle.interactedAt]).toEqual([9_500, 1_000]);
  });

  test('A4/43, 49: a reset names the rule that fired, its boundary and the last update', () => {
    const { events } = given(...talked).when('post-under m2 s2 daily 4000 @5000');
    expect(events.find(({ type }) => type === 'session_reset')).toMatchObject({
      reason: 'daily',
      cause: { trigger: 'daily', rule: 'session.reset', boundaryAt: 4_000, lastUpdateAt: 1_000 },
    });
  });

  test('a generation without messages gets no checkpoint', () => {
    given('open @0')
      .when('post-under m2 s2 isolated @99')
      .then('session_reset s1 to s2 g2', ...fresh);
  });

  test('C10, A7/81: the checkpoint covers the generation from its first commit to its last', () => {
    given(...talked, 'reset s2 m2', 'reply m2/1 1')
      .when('reset s3')
      .then('checkpoint_requested new_session s2 3-4', 'session_reset s2 to s3 g3');
  });

  test('C8: a source with one fixed session id numbers its generations', () => {
    const ids = stateAfter('open cli:work', 'append m1', 'reset cli:work').machine.context.sessionId;
    expect([ids, stateAfter('open cli:work', 'reset cli:work', 'reset cli:work').machine.context.sessionId]).toEqual([
      'cli:work#2',
      'cli:work#3',
    ]);
  });
});

test.each([
  ['with a # of its own', 'web:a#b'],
  ['as long as an id may be asked for', 'x'.repeat(limits.sessionIdCharacters)],
])('C8: each generation has an id of its own that can be read again: %s', (_, id) => {
  const { commits } = tell(`open ${id}`, `reset ${id}`, `reset ${id}`);
  expect(commits.map(({ sessionId }) => sessionId)).toEqual([id, `${id}#2`, `${id}#3`]);
  for (const commit of commits)
    expect(decodeCommit(encodeCommit(unrecorded(commit)), commit.seq, commit.recordedAt)).toMatchObject(commit);
  const tooLong = { ...command('open'), data: { type: 'open_session', sessionId: `${id}${'x'.repeat(112)}` } };
  expect(commandEnvelope.safeParse(tooLong).success).toBe(false);
});

describe('opening, origin and settings', () => {
  test('A4/58, A5/64: a session at rest is resumed with all it had, however old', () => {
    given('post m1', 'reply m1/1 1', 'deactivate').when('open').then('session_reopened');
  });

  test('A4/43: opening is no message: a stale session is opened as it is, and ended by its next message', () => {
    const expiry = { rule: 'session.reset', dailyBoundaryAt: 5_000 };
    const open = asking({ type: 'open_session', sessionId: 's2', expiry }, 6_000);
    given('post m1 @0', 'reply m1/1 1 @0', 'deactivate').when(open).then('session_reopened');
    const { rows } = given('post m1 @0', 'reply m1/1 1 @0', 'deactivate', open).when('post-under m2 s2 daily 5000 @6001');
    expect(rows).toContain('session_reset s1 to s2 g2');
  });

  test('A5/63: an inactive session stays inactive when only its origin or route changes', () => {
    given('post m1', 'reply m1/1 1', 'deactivate').when('route #ops').then('route_changed #ops');
    expect(stateAfter('append m1', 'deactivate', 'origin x').machine.value).toBe('inactive');
  });

  test('A5/65: reopening keeps the source and merges what is new of the origin', () => {
    const first = asking({
      type: 'open_session',
      sessionId: 's1',
      source: { kind: 'cli', interactive: true },
      origin: { label: 'a', from: 'f' },
    });
    const again = asking({
      type: 'open_session',
      sessionId: 's9',
      source: { kind: 'api', interactive: false },
      origin: { label: 'b' },
    });
    const { events } = given(first).when(again);
    expect(events).toEqual([{ type: 'origin_changed', v: 1, origin: { label: 'b', from: 'f' } }]);
  });

  test('A3/30, A13/134-136: of a session that several channels share the origin is that of the last one, and not of several', () => {
    const from = (origin: Origin) => asking({ type: 'record_origin', sessionId: 's1', origin });
    const whatsapp = from({ provider: 'whatsapp', from: '+49', label: 'Ann' });
    const told = stateAfter(from({ provider: 'telegram', accountId: 'work', threadId: '7', from: '5' }), whatsapp);
    expect(told.machine.context.origin).toEqual({ provider: 'whatsapp', from: '+49', label: 'Ann' });
  });

  test('A5/66: who opens is recorded as they are now', () => {
    given('append m1').when('open-by user-1').then('participant_resolved user-1');
  });

  test('A4/55, A5/67: the person who starts a session with /new is a participant; the sender of the greeting is not', () => {
    const sender = { id: '5', role: 'participant', principal: 'telegram:5' };
    const session = { dmScope: 'per-channel-peer' };
    const said = routed({ text: '/new', conversation: { id: '5', kind: 'direct' }, sender }, { session });
    const { commits } = tell(said);
    expect(commits.reduce<IndexRow | null>(summarize, null)?.participants).toEqual(['telegram:5']);
  });

  test('A13/138: a connector that only updates the route leaves the route and the origin behind', () => {
    const update = asking({
      type: 'record_origin',
      sessionId: 's1',
      origin: { label: 'Ops' },
      deliverTo: { channel: 'irc', to: '#ops' },
    });
    given().when(update).then('session_opened s1 g1', 'origin_changed Ops', 'route_changed #ops');
    given(update).when('origin Ops').then();
  });

  test('A9/96-97: an override is kept over a reset, and inherit clears it', () => {
    const settings = (...history: string[]) => stateAfter(...history).machine.context.settings;
    expect(settings('append m1', 'send deny', 'reset s2')).toEqual({ sendPolicy: 'deny' });
    expect(settings('append m1', 'send deny', 'send inherit')).toEqual({});
  });

  test('A9/96: an answer carries the override that held when it was given', () => {
    const { events } = given('post m1', 'send deny').when('reply m1/1 1');
    expect(events.find(({ type }) => type === 'assistant_message')).toMatchObject({ sendPolicy: 'deny' });
  });

  test('A4/54: a reset may set the model of the new session', () => {
    const reset = asking({
      type: 'reset',
      sessionId: 's2',
      cause: { trigger: 'command', rule: '/new' },
      settings: { model: 'a/b' },
    });
    expect(stateAfter('post m1', reset).machine.context).toMatchObject({ generation: 2, settings: { model: 'a/b' } });
  });
});

describe('stop, reports and the end', () => {
  const told = (history: readonly string[], asked: string | CommandEnvelope): string | undefined =>
    given(...history)
      .when(asked)
      .events.flatMap((event) => (event.type === 'notice' ? [event.notice.text] : []))[0];

  test.each([
    ['nothing runs', [], 'Nothing was running.'],
    ['one run', ['post m1'], 'Stopped the answer.'],
    ['a run and its queue', ['post m1', 'post m2', 'post m3'], 'Stopped the answer and cleared 2 waiting messages.'],
  ])('A11/125: the answer to /stop says how much was stopped: %s', (_, history, text) => {
    expect(told(history, 'stop-told')).toBe(text);
  });

  test('A11/125: one epoch ends the run and its queue, late output changes nothing, and a message sent after runs', () => {
    const stopped = ['post m1', 'post m2', 'stop-told'] as const;
    expect(stateAfter(...stopped).machine.context).toMatchObject({ epoch: 1, queue: [], turn: null });
    given(...stopped)
      .when('reply m1/1 1')
      .thenNothing();
    given(...stopped)
      .when('post m3')
      .then('user_message m3 for a turn', 'turn_started m3/1');
  });

  test('A11/123, A1/3: /status shows what the session itself knows', () => {
    const text = told(['post m1', 'reply m1/1 1', 'send deny'], 'report');
    expect(text).toContain('Agent: reachable. Model: offline');
    expect(text).toContain('Session: idle, generation 1, ID s1');
    expect(text).toContain('Context: 5 tokens; 5 used in 1 turn, 2 messages');
    expect(text).toContain('Thinking: default. Sending: off');
  });

  test('A11/123: /status leads with the name of a session that has one', () => {
    expect(told(['post m1', 'set displayName Tides'], 'report')).toMatch(/^Name: Tides\nAgent: reachable\./);
  });

  test.each([
    ['A4/44: the daily one', ['post m1', 'reply m1/1 1'], { rule: 'r', dailyBoundaryAt: 5 }, 'tomorrow 04:00'],
    [
      'A4/46: the idle one',
      ['post m1', 'reply m1/1 1'],
      { rule: 'r', idleMinutes: 60 },
      'tomorrow 04:00, or 1970-01-01 01:00 UTC if nothing is said before',
    ],
    ['A4/43: due', ['post m1', 'reply m1/1 1'], { rule: 'r', dailyBoundaryAt: 1_000 }, 'with the next message'],
    ['not under a running turn', ['post m1'], { rule: 'r', dailyBoundaryAt: 1_000 }, 'tomorrow 04:00'],
    ['none without a session', [], { rule: 'r', idleMinutes: 1 }, undefined],
  ])('A11/123: /status tells the next reset: %s', (_, history, expiry, expected) => {
    const facts = { kind: 'status' as const, model: 'm', parts: [], warnings: [], nextDaily: 'tomorrow 04:00', expiry };
    const lines = told(history, asking({ type: 'report', facts, notice: { code: 'status' } }, 1_000))?.split('\n') ?? [];
    expect(lines.find((line) => line.startsWith('Next reset'))).toBe(expected && `Next reset: ${expected}`);
  });

  test('A11/124, D4: /context list and detail name all parts and tools, biggest first', () => {
    const parts = Array.from({ length: 7 }, (_, index) => ({ name: `part ${index}`, characters: 400 * (index + 1) }));
    const tools = [
      { name: 'exec', characters: 40 },
      { name: 'read_file', characters: 80 },
    ];
    const report = (kind: 'context_list' | 'context_detail') =>
      asking({ type: 'report', facts: { kind, model: 'm', parts, tools, warnings: [] }, notice: { code: 'context' } });
    const list = told(['post m1', 'reply m1/1 1'], report('context_list'))?.split('\n') ?? [];
    expect(list[0]).toBe('System prompt: 11,200 characters, about 2,800 tokens, in 7 parts');
    expect(list[1]).toBe('- part 6: 2,800 characters, about 700 tokens');
    expect(list.slice(7)).toEqual([
      '- part 0: 400 characters, about 100 tokens',
      'Tools: exec, read_file',
      expect.stringMatching(/^Conversation: /),
    ]);
    const detail = told([], report('context_detail'))?.split('\n') ?? [];
    expect([detail.slice(0, 8), detail.length]).toEqual([list.slice(0, 8), 12]);
    expect(detail.slice(8, 11)).toEqual([
      'Tools: 2',
      '- read_file: 80 characters, about 20 tokens',
      '- exec: 40 characters, about 10 tokens',
    ]);
  });

  test('I11: a report of the most there can be is still a notice that can be recorded', () => {
    const parts = Array.from({ length: 200 }, () => ({ name: 'n'.repeat(128), characters: Number.MAX_SAFE_INTEGER }));
    const facts = { kind: 'context_detail' as const, model: 'm', parts, warnings: Array(20).fill('w'.repeat(500)) };
    const { commits } = tell(asking({ type: 'report', facts, notice: { code: 'context' } }));
    expect(() => commits.map(encodeCommit)).not.toThrow();
    expect(commits[0]?.events).toMatchObject([
      { notice: { text: expect.stringMatching(/\[\d+ lines more do not fit here\]$/) } },
    ]);
  });

  test('C9: a deleted session is forgotten, and its next message starts the generation after the last', () => {
    const gone = ['post m1', 'send deny', 'origin x', 'delete key'];
    expect(stateAfter(...gone).machine.context).toMatchObject({
      sessionId: 's1',
      settings: {},
      origin: {},
      deleted: true,
      epoch: 1,
    });
    given(...gone)
      .when('post m2')
      .then('session_opened s1#2 g2', 'user_message m2 for a turn', 'turn_started m2/1');
    given(...gone)
      .when('reply m1/1 1')
      .thenNothing();
  });
});

describe('what is planned in a session (sendAt, C9)', () => {
  const planned = (ifGeneration: number, row = 'post m9') => ({ ...command(row), ifGeneration });
  const refused = ['message_refused m9 session_deleted'];
  test.each<[string, readonly string[], number, readonly string[]]>([
    ['is cancelled by a deletion', ['append m1', 'delete'], 1, refused],
    ['is cancelled by the deletion of the key', ['post m1', 'delete key'], 1, refused],
    ['is cancelled by an erasure', ['append m1', 'delete erased'], 1, refused],
    ['stays cancelled when the session is used again', ['append m1', 'delete', 'append m2'], 1, refused],
    ['stays cancelled after a second deletion', ['append m1', 'delete', 'append m2', 'delete'], 2, refused],
    [
      'comes though another generation was deleted before',
      ['append m1', 'delete', 'append m2'],
      2,
      ['user_message m9 for a turn'],
    ],
    ['comes after a reset', ['append m1', 'reset s2'], 1, ['user_message m9 for a turn']],
    ['comes after a rest', ['append m1', 'deactivate'], 1, ['session_reopened', 'user_message m9 for a turn']],
    ['opens a session that was not there', [], 1, ['session_opened s1 g1', 'user_message m9 for a turn']],
    [
      'opens one again that was deleted before',
      ['append m1', 'delete'],
      2,
      ['session_opened s1#2 g2', 'user_message m9 for a turn'],
    ],
  ])('%s', (_, history, ifGeneration, outcome) => {
    const rows = given(...history).when(planned(ifGeneration)).rows;
    expect(rows.filter((row) => !row.startsWith('turn_started'))).toEqual(outcome);
  });

  test('is cancelled whatever it is, and the session stays deleted', () => {
    const gone = ['append m1', 'delete'];
    for (const row of ['append m9', 'post m9', 'reset s3 m9', 'post-under m9 s3 idle 1'])
      given(...gone)
        .when(planned(1, row))
        .then('message_refused m9 session_deleted');
    given(...gone)
      .when(planned(1, 'send deny'))
      .then('message_refused command send deny session_deleted');
    const { state, commits } = tell(...gone, planned(1));
    expect(state.machine.context).toMatchObject({ deleted: true, generation: 1, messages: 0 });
    expect(commits.reduce<IndexRow | null>(summarize, null)).toMatchObject({ deleted: true, deletedSeq: commits[1]?.seq });
    given(...gone, planned(1), 'post m2')
      .when(planned(2))
      .then('user_message m9 for a turn', 'turn_queued m9 #1');
  });
});

test('A9/94: /send may be the first message of a session', () => {
  const off = asking({
    type: 'patch_session',
    settings: { sendPolicy: 'deny' },
    notice: { code: 'send', text: 'Sending is off.' },
  });
  given().when(off).then('settings_changed {"sendPolicy":"deny"}', 'notice send');
  expect(stateAfter(off, 'post m1').machine.context).toMatchObject({ generation: 1, settings: { sendPolicy: 'deny' } });
});
