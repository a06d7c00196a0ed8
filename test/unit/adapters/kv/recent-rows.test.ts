import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentRows } from '../../../../shared/adapters/kv/recent-rows.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';

/** Some take part, others at another time. */
const peopleOf = (key: string, at: number): string[] => [`p${at % 3}`, ...(key < 'c' ? ['early'] : [])];
const facetOf = ({ updatedAt }: IndexRow) => String(updatedAt % 4);
const groupsOf = ({ participants }: IndexRow) => participants;
const rowAt = (key: string, updatedAt: number): IndexRow =>
  ({ key: key as SessionKey, updatedAt, participants: peopleOf(key, updatedAt) }) as Partial<IndexRow> as IndexRow;
const keys = ['a', 'b', 'c', 'd', 'e'];

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('set' as const), key: fc.constantFrom(...keys), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key: fc.constantFrom(...keys), at: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const), key: fc.constantFrom(...keys), at: fc.nat(20) }) },
);

test('A2/11: rows are listed newest first from any place on, whatever changed before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const rows = new RecentRows({ groupsOf, facetOf });
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
          const alike = after.filter((row) => facetOf(row) !== '2');
          expect([...rows.newestFirst({ after: place, facet: (facet) => facet !== '2' })]).toEqual(alike);
          for (const groups of [['p0'], ['p1', 'early'], ['nobody'], []]) {
            const members = after.filter(({ participants }) => participants.some((name) => groups.includes(name)));
            expect([...rows.newestFirst({ after: place, groups })]).toEqual(members);
          }
          expect(rows.get(key)).toBe(model.get(key));
        }
      }
      expect(new Set(rows.rows())).toEqual(new Set(model.values()));
    }),
  );
});

test('I11: what has changed is forgotten, also when nobody lists', () => {
  const rows = new RecentRows();
  for (let at = 0; at < 20_000; at++) rows.set('hot', rowAt('hot', at));
  expect(rows.entries).toBeLessThan(3_000);
  expect([...rows.newestFirst()]).toEqual([rowAt('hot', 19_999)]);
});

test('A8/89: the rows of a large group are found in the same order as those of a small one', () => {
  const rows = new RecentRows({ groupsOf, facetOf: ({ key }) => String(Number(key) % 7) });
  for (let at = 0; at < 9_000; at++) rows.set(String(at), rowAt(String(at), (at * 7_919) % 9_000));
  for (let at = 0; at < 9_000; at += 2) rows.delete(String(at));
  const all = [...rows.newestFirst()];
  for (const groups of [['p1'], ['p1', 'p2'], ['early', 'p0', 'p1', 'p2']]) {
    const wanted = all.filter(
      ({ key, participants }) => Number(key) % 7 === 3 && participants.some((name) => groups.includes(name)),
    );
    expect([...rows.newestFirst({ groups, facet: (facet) => facet === '3' })]).toEqual(wanted);
    expect(wanted.length).toBeGreaterThan(100);
  }
});

test('A10/101: more kinds of rows than are counted are still told apart', () => {
  const rows = new RecentRows({ facetOf: ({ key }) => key });
  for (let at = 0; at < 3_000; at++) rows.set(String(at), rowAt(String(at), at));
  for (const wanted of [['5'], ['2999', '1500', '7'], ['none']]) {
    const found = [...rows.newestFirst({ facet: (facet) => wanted.includes(facet) })].map(({ key }) => key);
    expect(found).toEqual(wanted.filter((key) => key !== 'none'));
  }
});

test('I11: a group of which nothing is left is forgotten', () => {
  const rows = new RecentRows({ groupsOf });
  for (let at = 0; at < 5_000; at++) rows.set('hot', { ...rowAt('hot', at), participants: [`p${at}`] });
  expect(rows.groups).toBe(1);
});
