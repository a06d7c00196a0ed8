import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { headlineOf } from '../../../shared/domain/session/headline.ts';
import { outboundHeadlines, plan } from '../../../shared/runtime/outgoing/plan.ts';
import { holds, type Intent, intents, play } from '../../support/domain/arbitraries.ts';
import { tell } from '../../support/domain/given.ts';

const key = 'agent:main:main' as SessionKey;
const target = { channel: 'irc', to: '#ubuntu' };
const turn = { id: 't1', attempt: 1 };
const said = (text: string, deliverTo?: typeof target): SessionEvent => ({
  type: 'assistant_message',
  v: 1,
  turn,
  messageId: 'm',
  text,
  ...(deliverTo && { deliverTo }),
});
const failed: SessionEvent = {
  type: 'turn_failed',
  v: 1,
  turn,
  code: 'model_error',
  message: 'no tokens left',
  deliverTo: target,
};
const completed: SessionEvent = { type: 'turn_completed', v: 1, turn };
const commit = (...events: SessionEvent[]): RecordedCommit => ({
  v: 1,
  id: 'c',
  key,
  rev: 1,
  sessionId: 's',
  epoch: 0,
  at: 1,
  correlationId: 'r',
  causationId: 'r',
  actor: 'host',
  command: { id: 'c', seq: 1, incarnation: 1 },
  events,
  seq: 7,
  recordedAt: 2,
  digest: '',
});
const told: SessionEvent = { type: 'notice', v: 1, notice: { code: 'send_policy', text: 'Sending is on.', deliverTo: target } };
const policy = (sendPolicy: object = {}) => configSchema.parse({ session: { sendPolicy } }).session.sendPolicy;
const denyIrc = policy({ rules: [{ action: 'deny', match: { channel: 'irc' } }] });

describe('plan: what a commit sends', () => {
  test.each<[string, SessionEvent[], unknown[]]>([
    ['nothing without a target', [said('hi'), completed], []],
    [
      'a reply, by the index of its event',
      [completed, said('hi', target)],
      [{ id: '7.1', kind: 'assistant_message', text: 'hi' }],
    ],
    ['a notice of a failed turn', [failed], [{ id: '7.0', kind: 'notice', text: expect.stringContaining('no tokens left') }]],
    ['both, in order', [said('a', target), failed, said('b', target)], [{ id: '7.0' }, { id: '7.1' }, { id: '7.2', text: 'b' }]],
    ['text without a silence marker (A6/79)', [said('Sure. <NO_REPLY>', target)], [{ text: 'Sure.' }]],
    [
      'silence is suppressed (A6/78)',
      [said(' <NO_REPLY> ', target)],
      [{ text: '', suppressedReason: 'there is nothing to say' }],
    ],
    ['an empty reply is suppressed', [said(' \n', target)], [{ text: '', suppressedReason: 'there is nothing to say' }]],
    ['a notice, as part of the run', [told], [{ id: '7.0', kind: 'notice', text: 'Sending is on.', turnId: 'r', target }]],
    ['no notice without a target', [{ ...told, notice: { code: 'status', text: 'fine' } } as SessionEvent], []],
  ])('%s', (_, events, expected) => expect(plan(commit(...events), policy())).toMatchObject(expected));

  const byRule = 'denied by session.sendPolicy.rules[0]';
  const under = (event: SessionEvent, sendPolicy: 'allow' | 'deny'): SessionEvent => ({ ...event, sendPolicy }) as SessionEvent;
  test.each<[string, SessionEvent, ReturnType<typeof policy>, string | undefined]>([
    ['A9/98: a rule withholds a reply', said('hi', target), denyIrc, byRule],
    ['A9/98: and the notice of a failed turn', failed, denyIrc, byRule],
    ['A9/98: and the answer to a command', told, denyIrc, byRule],
    ['A9/98: the default withholds', said('hi', target), policy({ default: 'deny' }), 'denied by session.sendPolicy.default'],
    ['A9/96: the session itself withholds', under(said('hi', target), 'deny'), policy(), 'denied by override'],
    ['A9/96: also that a turn has failed', under(failed, 'deny'), policy(), 'denied by override'],
    ['A9/96: the session allows what a rule denies', under(said('hi', target), 'allow'), denyIrc, undefined],
    ['A9/94: /send off is confirmed', under(told, 'deny'), policy(), undefined],
    ['A9/94: /send on is confirmed though a rule denies', under(told, 'allow'), denyIrc, undefined],
  ])('%s', (_, event, sendPolicy, reason) => expect(plan(commit(event), sendPolicy)[0]?.suppressedReason).toBe(reason));

  const back = { channel: 'session', to: 'agent:main:main', threadId: 'run-1', accountId: '2' };
  const goesOn = { channel: 'session', to: 'agent:main:main', accountId: '2' };
  const exactly = (expected: object) => expect.toSatisfy((given) => isDeepStrictEqual(given, expected));
  const denyAll = policy({ default: 'deny' });
  const ofRun = (event: SessionEvent, more: object = {}): SessionEvent =>
    ({ ...event, deliverTo: back, ...more }) as SessionEvent;
  const aborted: SessionEvent = { type: 'turn_aborted', v: 1, turn, reason: 'no time' };
  const runs = [1, 2].map((number) => ({ key: `agent:main:subagent:${number}`, runId: `run-${number}` }));
  test.each<[string, SessionEvent, unknown[]]>([
    ['the answer is a result', ofRun(said('done')), [{ kind: 'assistant_message', text: 'done', target: back }]],
    ['so is silence', ofRun(said('<NO_REPLY>')), [{ kind: 'assistant_message', text: '', target: back }]],
    ['and a failure', ofRun(failed), [{ kind: 'assistant_message', text: expect.stringContaining('no tokens left') }]],
    [
      'and that somebody has stopped it',
      ofRun(aborted),
      [{ kind: 'assistant_message', text: expect.stringContaining('no time') }],
    ],
    [
      'what is not the end is told without the run',
      ofRun(said('so far'), { unfinished: true }),
      [{ text: 'so far', target: exactly(goesOn) }],
    ],
    [
      'also before messages that have joined',
      ofRun(said('so far'), { interim: true }),
      [{ text: 'so far', target: exactly(goesOn) }],
    ],
    ['a failure while others go on', ofRun(failed, { unfinished: true }), [{ target: exactly(goesOn) }]],
    [
      'runs that are to end are told so, each by itself (A11/125)',
      { type: 'runs_stopped', v: 1, runs, reason: '/stop' },
      [
        {
          id: '7.0.0',
          kind: 'stop',
          text: '/stop',
          target: { channel: 'session', to: 'agent:main:subagent:1', threadId: 'run-1' },
        },
        { id: '7.0.1', kind: 'stop', target: { to: 'agent:main:subagent:2' } },
      ],
    ],
  ])('A9/98: between sessions no rule counts: %s', (_, event, expected) => {
    const outbounds = plan(commit(event), denyAll);
    expect(outbounds).toMatchObject(expected);
    for (const { suppressedReason } of outbounds) expect(suppressedReason).toBeUndefined();
  });
  test('silence before the end is nothing to tell', () => {
    expect(plan(commit(ofRun(said(''), { unfinished: true })), policy())).toMatchObject([
      { suppressedReason: 'there is nothing to say' },
    ]);
  });
  test('a person is told of no abort, and nobody of one that delivery itself has asked for', () => {
    expect(plan(commit(aborted), policy())).toEqual([]);
    expect(plan({ ...commit(ofRun(aborted)), actor: 'delivery' }, policy())).toEqual([]);
  });

  const asks = (more: object = {}): SessionEvent => ({
    ...{ type: 'approval_requested', v: 1, turn, approvalId: 'p1', action: 'send mail', expiresAt: Date.UTC(2026, 2, 4, 12) },
    ...{ deliverTo: target, ...more },
  });
  const [once, always] = ['Answer "/approve p1" or "/deny p1" and a reason.', '"/approve p1 always"'];
  test.each<[string, object, string, string]>([
    ['what is to be done', {}, 'Approval needed: send mail\n', 'sub-agent'],
    ['how it is answered', {}, always, once],
    ['once only, where a grant for good does not count', { onceOnly: true }, once, always],
    ['once only, where it may have taken effect', { asks: 'retry' }, 'may have taken effect', always],
    [
      'who may answer, and until when',
      { approvers: ['ann'] },
      'The owner may answer, ann, until 2026-03-04 12:00 UTC.',
      'others',
    ],
    ['of many only some', { approvers: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'answer, a, b, c, d, e, others, until', ', f'],
    [
      'of a sub-agent, another way to answer',
      { deliverTo: back },
      `sub-agent's ${key}; answer with: natter approvals`,
      '"/approve',
    ],
  ])('A5/62: a question says %s', (_, more, expected, not) => {
    const [question] = plan(commit(asks(more)), policy());
    expect(question).toMatchObject({ id: '7.0', kind: 'notice', text: expect.stringContaining(expected) });
    expect(question?.text).not.toContain(not);
  });
  test('A9/96: /send off keeps no question back; a rule does', () => {
    expect(plan(commit(asks({ sendPolicy: 'deny' })), policy())[0]?.suppressedReason).toBeUndefined();
    expect(plan(commit(asks()), denyIrc)[0]?.suppressedReason).toBe(byRule);
  });

  const carriers = new Set<string>([
    'assistant_message',
    'turn_failed',
    'notice',
    'approval_requested',
    'runs_stopped',
    'session_deleted',
  ]);
  const only = (type: SessionEvent['type']): SessionEvent => ({ type, v: 1 }) as SessionEvent;
  const [resolved, compacted, reset, started] = [
    only('approval_resolved'),
    only('context_compacted'),
    only('session_reset'),
    only('turn_started'),
  ];
  /** Every commit that may have an outbound is filed under a headline that is followed. */
  const allFollowed = (followed: readonly string[]) => (wishes: readonly Intent[]) => {
    for (const { events } of play(wishes).commits) {
      if (events.some(({ type }) => carriers.has(type))) expect(followed).toContain(headlineOf(events));
    }
  };
  test('whatever is asked of a session, no commit with an outbound is overlooked', () => {
    const without = (gone: string) => allFollowed(outboundHeadlines.filter((type) => type !== gone));
    const faults = { 'no notices': without('notice'), 'no replies': without('assistant_message') };
    holds(intents, allFollowed(outboundHeadlines), faults, 100);
    const { commits } = tell('post m1', 'post m2', 'stop-told', 'report', 'notice hi');
    for (const { events } of commits.slice(2)) expect(outboundHeadlines).toContain(headlineOf(events));
    const others: SessionEvent[][] = [
      [resolved, told],
      [compacted, told, completed, reset, started],
      [{ type: 'runs_stopped', v: 1, runs, reason: 'x' }, told],
    ];
    for (const events of others) expect(outboundHeadlines).toContain(headlineOf(events));
  });
});
