import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RecentRows } from '../../shared/adapters/base/recent-rows.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { IndexRow } from '../../shared/session/summary.ts';

const rowAt = (key: string, updatedAt: number): IndexRow => ({ key: key as SessionKey, updatedAt }) as IndexRow;
const keys = ['a', 'b', 'c', 'd', 'e'];

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('set' as const), key: fc.constantFrom(...keys), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key: fc.constantFrom(...keys), at: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const), key: fc.constantFrom(...keys), at: fc.nat(20) }) },
);

it('A2/11: rows are listed newest first from any place on, whatever changed before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const rows = new RecentRows();
      const model = new Map<string, IndexRow>();
      for (const { kind, key, at } of steps) {
        if (kind === 'set') {
          const row = rowAt(key, at);
          rows.set(key, row);
          model.set(key, row);
        } else if (kind === 'delete') {
          rows.delete(key);
          model.delete(key);
        } else {
          const sorted = [...model.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
          expect([...rows.newestFirst()]).toEqual(sorted);
          const place = rowAt(key, at);
          const after = sorted.filter((row) => row.updatedAt < at || (row.updatedAt === at && row.key > key));
          expect([...rows.newestFirst({ after: place })]).toEqual(after);
          expect(rows.get(key)).toBe(model.get(key));
        }
      }
      expect(new Set(rows.rows())).toEqual(new Set(model.values()));
    }),
  );
});

it('I11: what has changed is forgotten, also when nobody lists', () => {
  const rows = new RecentRows();
  for (let at = 0; at < 20_000; at++) rows.set('hot', rowAt('hot', at));
  expect(rows.entries).toBeLessThan(3_000);
  expect([...rows.newestFirst()]).toEqual([rowAt('hot', 19_999)]);
});
