import { expect, test } from 'vitest';
import { toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { given, stateAfter } from '../../../support/domain/given.ts';

const answered = ['post m1', 'reply m1/1 1'];

test.each(['undelivered 4.1', 'repeat-delivery 4.1'])(
  'D12: %s starts no turn, wakes nobody and is no use of the session',
  (row) => {
    for (const history of [answered, [...answered, 'deactivate'], [...answered, 'post m2']]) {
      const before = toPlain(stateAfter(...history));
      const after = toPlain(stateAfter(...history, `${row} @9000`));
      expect(after.context).toEqual(before.context);
      expect([after.status, after.position.interactedAt]).toEqual([before.status, before.position.interactedAt]);
      expect(after.position.rev).toBe(before.position.rev + 1);
    }
  },
);

test('D12: a message of an earlier generation is reported as one', () => {
  given(...answered)
    .when('undelivered 4.1')
    .then('delivery_reported 4.1 unknown');
  given(...answered, 'reset s2')
    .when('undelivered 4.1')
    .then('delivery_reported 4.1 unknown past');
  given(...answered, 'delete key', 'append m2')
    .when('undelivered 4.1')
    .then('delivery_reported 4.1 unknown past');
});

test("D12: a repeat follows the session's own send policy, and names the person who decided it", () => {
  const { events } = given(...answered, 'send deny').when('repeat-delivery 4.1');
  expect(events).toMatchObject([
    { text: 'step 1', by: 'boss', sendPolicy: 'deny', deliverTo: { channel: 'irc', to: '#ubuntu' } },
  ]);
});
