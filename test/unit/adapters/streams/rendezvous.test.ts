import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placementOf } from '../../../../shared/adapters/streams/rendezvous.ts';

const members = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { maxLength: 8 });
const partition = fc.integer({ min: 0, max: 255 });

describe('rendezvous placement', () => {
  test('does not depend on the order in which members are known', () => {
    fc.assert(
      fc.property(members, partition, (names, number) => {
        expect(placementOf(names.toReversed(), number)).toEqual(placementOf(names, number));
      }),
    );
  });

  test('names two different members where there are two, and says so where there are not', () => {
    expect(placementOf([], 3)).toEqual({ owner: null, standby: null });
    expect(placementOf(['a'], 3)).toEqual({ owner: 'a', standby: null });
    fc.assert(
      fc.property(members, partition, (names, number) => {
        fc.pre(names.length > 1);
        const { owner, standby } = placementOf(names, number);
        expect(names).toEqual(expect.arrayContaining([owner, standby]));
        expect(owner).not.toBe(standby);
      }),
    );
  });

  test('gives the partitions of a member that goes to its standby, and moves no other', () => {
    fc.assert(
      fc.property(members, partition, fc.nat(), (names, number, index) => {
        fc.pre(names.length > 1);
        const gone = names[index % names.length] ?? '';
        const before = placementOf(names, number);
        const after = placementOf(
          names.filter((name) => name !== gone),
          number,
        );
        expect(after.owner).toBe(before.owner === gone ? before.standby : before.owner);
      }),
    );
  });

  test('shares 64 partitions out evenly enough among similar names', () => {
    for (const names of [
      ['session-1', 'session-2'],
      ['host-a-4711', 'host-a-4712', 'host-b-4711'],
      ['a', 'b', 'c', 'd'],
    ]) {
      const shares = names.map(
        (name) => [...Array(64).keys()].filter((number) => placementOf(names, number).owner === name).length,
      );
      for (const share of shares) expect(Math.abs(share - 64 / names.length)).toBeLessThan(14);
    }
  });
});
