import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../../shared/domain/config/schema.ts';
import type { IndexRow } from '../../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../../shared/domain/projections/summary.ts';
import { queueRuleOf } from '../../../../../shared/domain/routing/queue-rule.ts';
import { strangersShare } from '../../../../../shared/domain/values/queue-share.ts';
import { given, tell } from '../../../../support/domain/given.ts';

/** So many messages of a person that wait in a session with a queue of 8. */
const from = (person: string, count: number, verb = 'post-of-shared'): string[] =>
  Array.from({ length: count }, (_, at) => `${verb} ${person}${at} ${person} 8`);
const ofOwner = (count: number): string[] => Array.from({ length: count }, (_, at) => `post-limit o${at} 8`);

describe('D7, I11: whose messages may wait in a queue of 8 that several people share', () => {
  const full = ['message_refused m9 queue_full'];
  const waits = (position: number) => ['user_message m9 for a turn', `turn_queued m9 #${position}`];
  test.each<[rule: string, waiting: string[], asked: string, events: string[]]>([
    ['a stranger has a quarter', from('ann', 1), 'post-of-shared m9 ann', waits(2)],
    ['and no more', from('ann', 2), 'post-of-shared m9 ann', full],
    ['a bot on the platform is a stranger, too', from('bot', 2), 'post-of-shared m9 bot', full],
    ['and takes the share of nobody else', from('bot', 2), 'post-of-shared m9 bott', waits(3)],
    ['another one has theirs', from('ann', 2), 'post-of-shared m9 bob', waits(3)],
    ['all together have half', [...from('ann', 2), ...from('bob', 2)], 'post-of-shared m9 eve', full],
    ['which the owner’s messages do not take', ofOwner(5), 'post-of-shared m9 ann', waits(6)],
    ['unless the queue is full of them', ofOwner(8), 'post-of-shared m9 ann', full],
    [
      'the owner has the whole, whatever strangers send',
      [...from('ann', 2), ...from('bob', 2), ...ofOwner(7)],
      'post-limit m9 8',
      waits(12),
    ],
    ['and no more', [...from('ann', 2), ...ofOwner(8)], 'post-limit m9 8', full],
    ['in a session of their own a stranger has the whole', from('ann', 7, 'post-of-limit'), 'post-of-limit m9 ann 8', waits(8)],
    ['and no more, but the owner gets in', from('ann', 8, 'post-of-limit'), 'post-of-limit m9 ann 8', full],
    ['there, too', from('ann', 8, 'post-of-limit'), 'post-limit m9 8', waits(9)],
  ])('%s', (_, waiting, asked, events) => {
    given('post m1', ...waiting)
      .when(asked)
      .then(...events);
  });

  test('somebody has a place in every queue that has one', () => {
    for (let limit = 0; limit <= 100; limit++) {
      const { each, all } = strangersShare(limit);
      expect([each >= Math.min(1, limit), all >= each, all <= limit]).toEqual([true, true, true]);
    }
    expect(strangersShare(queueRuleOf(configSchema.parse({}).session).limit ?? 0)).toEqual({ each: 5, all: 10 });
  });

  test('the row knows which of the waiting messages are strangers’, until they run or are cleared', () => {
    const strangersIn = (...rows: string[]) =>
      tell('post m1', ...rows).commits.reduce<IndexRow | null>((row, commit) => summarize(row, commit), null)?.strangersQueued ??
      [];
    const waiting = [...from('ann', 1), ...ofOwner(1), ...from('bob', 2)];
    expect(strangersIn(...waiting)).toEqual(['ann0', 'bob0', 'bob1']);
    expect(strangersIn(...waiting, 'reply m1/1 1')).toEqual(['bob0', 'bob1']);
    expect(strangersIn(...waiting, 'stop-of bob')).toEqual(['ann0']);
    expect(strangersIn(...waiting, 'stop')).toEqual([]);
    expect(strangersIn('post-of m2 ann collect', 'post-of m3 bob collect', 'reply m1/1 1')).toEqual([]);
  });
});
