import { describe, expect, test } from 'vitest';
import { summarize } from '../../../../../shared/domain/projections/summary.ts';
import { limits } from '../../../../../shared/kit/limits.ts';
import { command, given, stateAfter, tell } from '../../../../support/domain/given.ts';

/**
 * What the domain guarantees (I7): a question names its call, and the hash of the tool and its arguments is in it. A call's arguments are in
 * the step that made it and no event changes them, so an answer can only ever be about them; whoever runs the call compares the hash again.
 */
const asked = ['post m1', 'call m1/1 1 read ask'];
const contextAfter = (...history: string[]) => stateAfter(...history).machine.context;

describe('the answer and what it leads to are one commit (A5/62, I7)', () => {
  test.each<[string, string[], string, string[]]>([
    ['granted', asked, 'answer p0 granted', ['approval_resolved m1/2 p0 granted', 'tool_call_started m1/2 m1.1.0 #1']],
    ['denied', asked, 'answer p0 denied', ['approval_resolved m1/2 p0 denied', 'tool_result m1/2 m1.1.0 denied']],
    ['expired', asked, 'expire p0 @1001', ['approval_resolved m1/2 p0 expired', 'tool_result m1/2 m1.1.0 expired']],
    ['not yet expired', asked, 'expire p0 @1000', []],
    ['expired once', [...asked, 'expire p0 @1001'], 'expire p0 @1002', []],
    [
      'granted once more',
      ['post m1', 'call m1/1 1 read run', 'resume', 'ask-call m1/2 m1.1.0 p1 retry'],
      'answer p1 granted',
      ['approval_resolved m1/3 p1 granted', 'tool_call_started m1/3 m1.1.0 #2'],
    ],
    [
      'not once more: whether it took effect is not known',
      ['post m1', 'call m1/1 1 read run', 'resume', 'ask-call m1/2 m1.1.0 p1 retry'],
      'answer p1 denied',
      ['approval_resolved m1/3 p1 denied', 'tool_result m1/3 m1.1.0 unknown'],
    ],
    [
      'nobody said whether once more',
      ['post m1', 'call m1/1 1 read run', 'resume', 'ask-call m1/2 m1.1.0 p1 retry'],
      'expire p1 @1001',
      ['approval_resolved m1/3 p1 expired', 'tool_result m1/3 m1.1.0 unknown'],
    ],
  ])('%s', (_, history, answer, events) => {
    given(...history)
      .when(answer)
      .then(...events);
  });

  test("the model receives the person's reason", () => {
    const answer = command('answer p0 denied');
    const { events } = given(...asked).when({ ...answer, data: { ...answer.data, reason: 'not on a Friday' } as never });
    expect(events[0]).toMatchObject({ reason: 'not on a Friday', by: 'owner-1', callId: 'm1.1.0' });
    expect(events[1]).toMatchObject({ text: 'The call was denied by owner-1: not on a Friday.' });
  });

  test.each([
    ['alice', 'denied by alice'],
    ['telegram:7', 'denied by telegram:7'],
    ['api', 'denied in the chat'],
    ['token:api', 'denied by the owner, over the API'],
    ['token:phone', 'denied by phone, over the API'],
    ['token:page:owner:7q891v0xm0j8', 'denied by the owner, on the page'],
    ['token:page:approver:7q891v0xm0j8', 'denied by an approver, on the page'],
    ['token:page:phone:7q891v0xm0j8', 'denied by phone, on the page'],
  ])('%s: %s', (by, told) => {
    const answer = command('answer p0 denied');
    const answeredBy = (id: string) => ({ ...answer, data: { ...answer.data, by: { id, role: 'owner' } } as never });
    const { events } = given(...asked).when(answeredBy(by));
    expect(events).toMatchObject([{ by }, { text: `The call was ${told}.` }]);
    const again = given('post m1', 'call m1/1 1 read run', 'resume', 'ask-call m1/2 m1.1.0 p0 retry').when(answeredBy(by));
    expect(again.events[1]).toMatchObject({
      text: expect.stringMatching(`It was not repeated: ${told}\\.$`),
    });
  });

  test('the other calls of the step are asked about afterwards', () => {
    const two = ['post m1', 'call m1/1 1 read ask ask', 'answer p0 denied'];
    given(...two)
      .when('ask-call m1/2 m1.1.1 p1')
      .then('approval_requested m1/2 p1');
    given(...two)
      .when('reply m1/2 2')
      .thenNothing();
  });
});

describe('when a question may be asked', () => {
  test.each<[string, string[], string]>([
    ['a call runs in this attempt', ['post m1', 'call m1/1 1 read run ask'], 'ask-call m1/1 m1.1.1 p1'],
    ['the call has ended', ['post m1', 'call m1/1 1 read deny'], 'ask-call m1/1 m1.1.0 p1'],
    ['the model has not made the call', ['post m1', 'call m1/1 1 read deny'], 'ask-call m1/1 m1.1.7 p1'],
    ['the attempt is over', ['post m1', 'call-unruled m1/1 1', 'resume'], 'ask-call m1/1 m1.1.0 p1'],
    ['the same question was answered already', [...asked, 'answer p0 granted', 'resume'], 'ask-call m1/3 m1.1.0 p0 retry'],
    ['another question waits', asked, 'ask-call m1/1 m1.1.0 p2'],
  ])('not when %s', (_, history, question) => {
    given(...history)
      .when(question)
      .thenNothing();
  });

  test('a call that its host left behind does not run any more, and is asked about', () => {
    given('post m1', 'call m1/1 1 read run ask', 'resume').when('ask-call m1/2 m1.1.1 p1').then('approval_requested m1/2 p1');
  });
});

describe('who may answer', () => {
  test.each([
    ['owner', true],
    ['boss', true],
    ['stranger', false],
    ['claimer', false],
    ['program', false],
  ])('%s: %s', (person, may) => {
    const { rows, events } = given(...asked).when(`answer-by ${person} p0 granted`);
    if (may) expect(rows).toEqual(['approval_resolved m1/2 p0 granted', 'tool_call_started m1/2 m1.1.0 #1', 'notice approval']);
    else expect(rows).toEqual(['notice approval_forbidden']);
    if (!may) expect(events[0]).toMatchObject({ notice: { text: 'approval p0 is not yours to answer; ask the owner' } });
  });

  test('a request without approvers is the owner’s alone', () => {
    given('post m1', 'ask m1/1 p1').when('answer-by boss p1 granted').then('notice approval_forbidden');
    given('post m1', 'ask m1/1 p1').when('answer p1 granted').then('approval_resolved m1/2 p1 granted');
  });
});

describe('an answer that does not count has one of four reasons, as a refusal or in the chat', () => {
  test.each<[string, string[], string]>([
    ['approval_unknown', asked, 'p9'],
    ['approval_unknown', [...asked, 'stop'], 'p0'],
    ['approval_unknown', [...asked, 'reset s2'], 'p0'],
    ['approval_unknown', [...asked, 'delete key'], 'p0'],
    ['approval_unknown', [...asked, 'post-as m2 interrupt'], 'p0'],
    ['approval_resolved', [...asked, 'answer p0 denied'], 'p0'],
    ['approval_resolved', [...asked, 'answer p0 granted', 'resume', 'ask-call m1/3 m1.1.0 p1 retry'], 'p0'],
    ['approval_expired', [...asked, 'expire p0 @1001'], 'p0'],
  ])('%s after %j', (code, history, approvalId) => {
    given(...history)
      .when(`answer ${approvalId} granted`)
      .thenRefused(code as 'approval_unknown');
    given(...history)
      .when(`answer-by owner ${approvalId} granted`)
      .then(`notice ${code}`);
  });

  test.each([
    [asked, 'there is no approval "p9" in this session; waiting: p0'],
    [[], 'there is no approval "p9" in this session; nothing waits for approval here'],
  ])('an ID that is none is answered with those that wait: %j', (history, text) => {
    const { events } = given('open', ...history).when('answer-by owner p9 granted');
    expect(events[0]).toMatchObject({ notice: { code: 'approval_unknown', text } });
  });

  test('too late, although its expiry is not recorded yet', () => {
    given(...asked)
      .when('answer p0 granted @1001')
      .thenRefused('approval_expired');
    given(...asked)
      .when('answer-by stranger p0 granted @1001')
      .then('notice approval_forbidden');
  });

  test('the first answer wins, and the second one’s sender learns whose it was', () => {
    const { events } = given(...asked, 'answer-by boss p0 denied').when('answer-by owner p0 granted');
    expect(events).toMatchObject([{ notice: { text: 'approval p0 was denied by boss already' } }]);
  });

  test(`the last ${limits.resolvedApprovals} answers are known by name (I11)`, () => {
    const history = ['post m1'];
    for (let i = 1; i <= limits.resolvedApprovals + 1; i++) history.push(`ask m1/${i} q${i}`, `answer q${i} granted`);
    const late = given(...history);
    late.when('answer q1 granted').thenRefused('approval_unknown');
    late.when('answer q2 granted').thenRefused('approval_resolved');
  });
});

describe('allowed for good', () => {
  const grantsAfter = (...history: string[]) => contextAfter(...history).grants;

  test.each<[string, string[], string[]]>([
    ['always', [...asked, 'answer p0 granted always'], ['hash of read']],
    ['once', [...asked, 'answer p0 granted'], []],
    ['denied always', [...asked, 'answer p0 denied always'], []],
    ['always, where each call is asked about', ['post m1', 'call m1/1 1 read ask-once', 'answer p0 granted always'], []],
    [
      'always, of a call that was cut off',
      ['post m1', 'call m1/1 1 read run', 'resume', 'ask-call m1/2 m1.1.0 p1 retry', 'answer p1 granted always'],
      [],
    ],
    ['always, of what has no hash', ['post m1', 'ask m1/1 p1', 'answer p1 granted always'], []],
    ['until the next generation', [...asked, 'answer p0 granted always', 'reset s2'], []],
    ['through a stop', [...asked, 'answer p0 granted always', 'stop'], ['hash of read']],
  ])('%s', (_, history, grants) => expect(grantsAfter(...history)).toEqual(grants));

  test('what is recorded says which it was', () => {
    const scopeOf = (...history: string[]) => given(...history).when('answer p0 granted always').events[0];
    expect(scopeOf(...asked)).toMatchObject({ scope: 'always' });
    expect(scopeOf('post m1', 'call m1/1 1 read ask-once')).toMatchObject({ scope: 'once' });
  });

  test.each([
    [
      'once where each call is asked about',
      'ask-once',
      { code: 'approval_once', text: 'Approved: read (allowed once: read is asked each time)' },
    ],
    ['always', 'ask', { code: 'approval', text: 'Approved: read' }],
  ])('who allowed it always is told if it counts once: %s', (_, kind, notice) => {
    expect(given('post m1', `call m1/1 1 read ${kind}`).when('answer-by owner p0 granted always').events.at(-1)).toMatchObject({
      notice,
    });
  });

  test('the same grant twice is one, the newest last (I11)', () => {
    const again = ['answer p0 granted always', 'result m1/2 m1.1.0 ok', 'call m1/2 2 read ask:q1', 'answer q1 granted always'];
    expect(grantsAfter(...asked, ...again)).toEqual(['hash of read']);
  });
});

describe('the index shows what is asked, and since when', () => {
  const approvalAfter = (...history: string[]) =>
    tell(...history).commits.reduce((row: ReturnType<typeof summarize> | null, commit) => summarize(row, commit), null)?.approval;

  test('while it waits', () => {
    expect(approvalAfter(...asked.slice(0, 1), 'call m1/1 1 read ask @150')).toMatchObject({
      approvalId: 'p0',
      callId: 'm1.1.0',
      tool: 'read',
      requestedAt: 150,
      expiresAt: 1000,
    });
  });
  test.each([
    'answer p0 granted',
    'answer p0 denied',
    'expire p0 @1001',
    'stop',
    'reset s2',
    'delete key',
    'post-as m2 interrupt',
    'delete erased',
  ])('and not after %s', (end) => expect(approvalAfter(...asked, end)).toBeNull());
});
