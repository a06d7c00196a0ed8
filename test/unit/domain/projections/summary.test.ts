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
