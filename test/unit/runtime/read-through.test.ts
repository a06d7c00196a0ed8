import { expect, test } from 'vitest';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';
import { commitTo, freshKey } from '../../support/domain/commits.ts';

/** A key with four commits, at the sequences 1 to 4. */
const told = async () => {
  const { events } = openInMemory({ clock: systemClock }).portsFor('test');
  const key = freshKey();
  for (let rev = 1; rev <= 4; rev++) await events.append(commitTo(key, { rev }), rev - 1);
  return async (after: number, through: number): Promise<number[]> => {
    const revs: number[] = [];
    for await (const { rev } of readThrough({ events, clock: systemClock }, key, { after, through })) revs.push(rev);
    return revs;
  };
};

test.each([
  ['a part', 1, 3, [2, 3]],
  ['all', 0, 4, [1, 2, 3, 4]],
  ['all that there is, when the end is not known', 0, 0, [1, 2, 3, 4]],
  ['what comes after, when the end is before it', 2, 1, [3, 4]],
])('reads %s', async (_, after, through, expected) => {
  const read = await told();
  expect(await read(after, through)).toEqual(expected);
});

test('a lagging replica is asked again for the rest, also when the commit at the end is lost and a later one is there', async () => {
  const { events } = openInMemory({ clock: systemClock }).portsFor('test');
  const key = freshKey();
  for (let rev = 1; rev <= 3; rev++) await events.append(commitTo(key, { rev }), rev - 1);
  const asked: unknown[] = [];
  const lagging: typeof events = {
    ...events,
    read: (of, range) => {
      asked.push(range);
      return events.read(of, asked.length === 1 ? { after: 0, upTo: 1 } : { ...range });
    },
  };
  const revs: number[] = [];
  for await (const { rev } of readThrough({ events: lagging, clock: systemClock }, key, { after: 0, through: 3 })) revs.push(rev);
  expect(revs).toEqual([1, 2, 3]);
  expect(asked).toEqual([{ after: 0, upTo: 3 }, { after: 1 }]);
});
