import { expect, test } from 'vitest';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { tell } from '../../../support/domain/given.ts';

test('a row is a new one after each commit: others may hold the one before', () => {
  let row: IndexRow | null = null;
  for (const commit of tell('post m1', 'stop', 'append m2', 'delete', 'post m3').commits) {
    const before: IndexRow | null = row === null ? null : Object.freeze(row);
    const copy = structuredClone(before);
    row = summarize(before, commit);
    expect(before).toEqual(copy);
    expect(row).not.toBe(before);
  }
  expect(row).toMatchObject({ generation: 2, deleted: false });
});

test('a row tells why its generation began: by a reset, or as a fork of a commit', () => {
  const rowAfter = (...rows: string[]): IndexRow | null =>
    tell(...rows).commits.reduce<IndexRow | null>((row, commit) => summarize(row, commit), null);
  expect(rowAfter('post m1')?.lastReset).toBeUndefined();
  const reset = rowAfter('post m1', 'stop', 'reset s2 @5000', 'append m2 @6000');
  expect(reset?.lastReset).toEqual({ trigger: 'command', rule: '/new', at: 5_000, seq: 6 });
  const forked = rowAfter('post m1', 'stop', 'fork s2 1 @5000');
  expect(forked?.lastReset).toMatchObject({ trigger: 'fork', fromSeq: 2, fromRev: 1 });
});
