import { describe, expect, test } from 'vitest';
import { type IndexRow, pendingIn } from '../../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../../shared/domain/projections/summary.ts';
import { limits } from '../../../../../shared/kit/limits.ts';
import { given, stateAfter, tell } from '../../../../support/domain/given.ts';

/** A stranger's turn asks without waiting (ADR 22): the turn goes on, and what is allowed later is a turn of its own. */
const asked = ['post-to m1 #ubuntu', 'call m1/1 1 read ask-later'];
const over = [...asked, 'reply m1/1 2'];
const begun = (rows = 'user_message approval-p0 for a turn') => [
  'approval_resolved approval-p0/1 p0 granted',
  rows,
  'turn_started approval-p0/1',
  'model_step approval-p0/1 1 continue',
  'tool_call_started approval-p0/1 approval-p0.1.0 #1',
];
const asksToo = (id: string, name: string): string[] => [
  `post ${id}`,
  `call ${id}/1 1 read ask-later-${name}:p${id.slice(1)}`,
  `reply ${id}/1 2`,
];
const bobAsksToo = [...over, ...asksToo('m2', 'bob')];
const ownerAsksToo = [...over, 'post m2', 'call m2/1 1 read ask:p2'];
const contextAfter = (...history: string[]) => stateAfter(...history).machine.context;

describe('A5/62: a question that no turn waits for', () => {
  test.each<[string, string[], string, string[]]>([
    [
      'is asked, told to the owner, and its call ends',
      ['post m1'],
      'call m1/1 1 read ask-later',
      ['model_step m1/1 1 continue', 'approval_requested m1/1 p0', 'notice told', 'tool_result m1/1 m1.1.0 denied'],
    ],
    [
      'is one: the second call of the step ends without',
      ['post m1'],
      'call m1/1 1 read ask-later ask-later',
      [
        ...['model_step m1/1 1 continue', 'approval_requested m1/1 p0', 'notice told', 'tool_result m1/1 m1.1.0 denied'],
        'tool_result m1/1 m1.1.1 denied',
      ],
    ],
    [
      'is one of a person: their next one is not asked',
      [...over, 'post m2'],
      'call m2/1 1 read ask-later:p2',
      ['model_step m2/1 1 continue', 'tool_result m2/1 m2.1.0 denied'],
    ],
    [
      'does not keep another person from asking (issue 14)',
      [...over, 'post m2'],
      'call m2/1 1 read ask-later-bob:p2',
      ['model_step m2/1 1 continue', 'approval_requested m2/1 p2', 'notice told', 'tool_result m2/1 m2.1.0 denied'],
    ],
    [
      'and then each is answered by itself: the later',
      bobAsksToo,
      'answer p2 denied',
      ['approval_resolved approval-p2/1 p2 denied', 'notice approval_refused'],
    ],
    ['and the earlier', [...bobAsksToo, 'answer p2 denied'], 'answer p0 granted', begun()],
    [
      'once it has ended, the person may ask again',
      [...bobAsksToo, 'answer p0 denied', 'post m3'],
      'call m3/1 1 read ask-later:p3',
      ['model_step m3/1 1 continue', 'approval_requested m3/1 p3', 'notice told', 'tool_result m3/1 m3.1.0 denied'],
    ],
    [
      'is one of four at most (I11)',
      [...over, ...['bob', 'eve', 'dan'].flatMap((name, index) => asksToo(`m${index + 2}`, name)), 'post m9'],
      'call m9/1 1 read ask-later-zoe:p9',
      ['model_step m9/1 1 continue', 'tool_result m9/1 m9.1.0 denied'],
    ],
    [
      'does not keep the other calls of the step',
      ['post m1'],
      'call m1/1 1 read run ask-later',
      [
        ...['model_step m1/1 1 continue', 'tool_call_started m1/1 m1.1.0 #1'],
        ...['approval_requested m1/1 p1', 'notice told', 'tool_result m1/1 m1.1.1 denied'],
      ],
    ],
    [
      'of a call that was cut off says that its effect is not known',
      ['post m1', 'call m1/1 1 read run', 'resume'],
      'ask-call m1/2 m1.1.0 p1 ask-later',
      ['approval_requested m1/2 p1', 'tool_result m1/2 m1.1.0 unknown'],
    ],
    ['lets its turn end', asked, 'reply m1/1 2', ['model_step m1/1 2 stop', 'assistant_message m1/1', 'turn_completed m1/1']],
    ['lets others be answered', over, 'post m2', ['user_message m2 for a turn', 'turn_started m2/1']],
    [
      'stays open beside one that a turn waits for',
      [...over, 'post m2'],
      'call m2/1 1 read ask:p2',
      ['model_step m2/1 1 continue', 'approval_requested m2/1 p2'],
    ],
    [
      'is granted then, and the turn waits on',
      ownerAsksToo,
      'answer p0 granted',
      [...begun().slice(0, 2), 'turn_queued approval-p0 #1'],
    ],
    [
      'or denied, and the turn waits on',
      [...ownerAsksToo, 'answer p0 denied'],
      'answer p2 granted',
      ['approval_resolved m2/2 p2 granted', 'tool_call_started m2/2 m2.1.0 #1'],
    ],
    [
      'or ends, and the turn waits on',
      [...ownerAsksToo, 'expire p0 @1001'],
      'answer p2 denied @1000',
      ['approval_resolved m2/2 p2 denied', 'tool_result m2/2 m2.1.0 denied'],
    ],
    ['granted, begins a turn with the call', over, 'answer p0 granted', begun()],
    [
      'granted while another turn runs, waits for its end',
      [...over, 'post m2'],
      'answer p0 granted',
      [...['approval_resolved approval-p0/1 p0 granted', 'user_message approval-p0 for a turn'], 'turn_queued approval-p0 #1'],
    ],
    [
      'and begins then',
      [...over, 'post m2', 'answer p0 granted'],
      'reply m2/1 1',
      ['model_step m2/1 1 stop', 'assistant_message m2/1', 'turn_completed m2/1', ...begun().slice(2)],
    ],
    [
      'granted in its own turn, waits for the end of that',
      asked,
      'answer p0 granted',
      [...begun().slice(0, 2), 'turn_queued approval-p0 #1'],
    ],
    [
      'granted in a session that was put away, opens it',
      [...over, 'deactivate'],
      'answer p0 granted',
      [begun()[0] as string, 'session_reopened', ...begun().slice(1)],
    ],
    [
      'denied, is told where it was asked',
      over,
      'answer p0 denied',
      ['approval_resolved approval-p0/1 p0 denied', 'notice approval_refused'],
    ],
    ['ends at its deadline', over, 'expire p0 @1001', ['approval_resolved approval-p0/1 p0 expired', 'notice approval_refused']],
    ['not before', over, 'expire p0 @1000', []],
    ['ends once', [...over, 'expire p0 @1001'], 'expire p0 @1002', []],
    ['is answered once', [...over, 'answer p0 granted'], 'answer p0 denied', ['refused: approval_resolved']],
    ['is not answered too late', over, 'answer p0 granted @1001', ['refused: approval_expired']],
    ['is not a stranger’s to answer', over, 'answer-by stranger p0 granted', ['notice approval_forbidden']],
    ['outlives a stop', [...asked, 'stop'], 'answer p0 granted', begun()],
    ['and a message that interrupts', [...asked, 'post-as m2 interrupt', 'reply m2/1 1'], 'answer p0 granted', begun()],
    ['ends with its session', [...over, 'reset s2'], 'answer p0 granted', ['refused: approval_unknown']],
  ])('%s', (_, history, command, rows) => {
    given(...history)
      .when(command)
      .then(...rows);
  });

  test('I7: the call that is made is the one that was asked about, for the person and at the place of the question', () => {
    const { events } = given(...over).when('answer p0 granted');
    expect(events).toMatchObject([
      { by: 'owner-1', scope: 'once', callId: 'approval-p0.1.0' },
      { message: { sender: { id: 'natter', role: 'program', onBehalfOf: 'participant', principal: 'stranger' } } },
      { turn: { deliverTo: { to: '#ubuntu' }, call: { approvalId: 'p0', tool: 'read' } } },
      { calls: [{ callId: 'approval-p0.1.0', tool: 'read', arguments: '{"index":0}' }] },
      { approvalId: 'p0' },
    ]);
    const [question] = given('post m1').when('call m1/1 1 read ask-later').events.slice(1);
    expect(question).toMatchObject({ callId: 'approval-p0.1.0', hash: 'hash of read' });
  });

  test('allowed for good it counts for later calls', () => {
    expect(contextAfter(...over, 'answer p0 granted always').grants).toEqual(['hash of read']);
  });

  test('I11: is not granted into a queue that is full', () => {
    const waiting = Array.from({ length: limits.queuedTurns }, (_, index) => `post q${index}`);
    given(...over, 'post m2', ...waiting)
      .when('answer p0 granted')
      .thenRefused('session_busy');
  });

  test.each<[string, string[], string, string]>([
    ['while its turn runs', asked, 'running', 'p0'],
    ['after it', over, 'idle', 'p0'],
    ['after a stop', [...asked, 'stop'], 'idle', 'p0'],
    ['not once it is denied', [...over, 'answer p0 denied'], 'idle', ''],
    ['nor granted', [...over, 'answer p0 granted'], 'running', ''],
    ['nor after a reset', [...over, 'reset s2'], 'idle', ''],
    ['beside others', bobAsksToo, 'idle', 'p0 p2'],
    ['beside what a turn waits for', ownerAsksToo, 'awaiting_approval', 'p2 p0'],
    ['which it still does once it is denied', [...ownerAsksToo, 'answer p0 denied'], 'awaiting_approval', 'p2'],
    ['after what a turn waited for', [...ownerAsksToo, 'answer p2 denied'], 'running', 'p0'],
  ])('the index shows it %s', (_, history, status, pending) => {
    const { commits, state } = tell(...history);
    const row = commits.reduce<IndexRow | null>(summarize, null);
    const { approval, questions } = state.machine.context;
    const idsOf = (open: readonly { readonly approvalId: string }[]): string =>
      open.map(({ approvalId }) => approvalId).join(' ');
    expect([row?.status, row && idsOf(pendingIn(row))]).toEqual([status, pending]);
    // What callers may not write behind is what a turn waits for, and nothing else.
    expect(row?.approval?.approvalId).toBe(status === 'awaiting_approval' ? 'p2' : undefined);
    expect([state.machine.value, idsOf([...(approval ? [approval] : []), ...questions])]).toEqual([status, pending]);
  });

  test('a row of an older version, with the question in the place of what a turn waits for, goes on', () => {
    const { commits } = tell(...ownerAsksToo, 'answer p2 denied', 'reply m2/2 2');
    const rows = (upTo: number): IndexRow => {
      const row = commits.slice(0, upTo).reduce<IndexRow | null>(summarize, null) as IndexRow;
      const [approval = null] = row.questions ?? [];
      return { ...row, approval, questions: undefined };
    };
    const before = commits.findIndex(({ events }) =>
      events.some(({ type, ...event }) => 'approvalId' in event && event.approvalId === 'p2'),
    );
    const row = commits.slice(before).reduce<IndexRow | null>(summarize, rows(before));
    expect(pendingIn(rows(before)).map(({ approvalId }) => approvalId)).toEqual(['p0']);
    expect(row).toEqual(commits.reduce<IndexRow | null>(summarize, null));
  });
});
