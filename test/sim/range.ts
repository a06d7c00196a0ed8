import { expect } from 'vitest';
import { reportOf, runSeeds } from './seeds.ts';

/** A range of seeds is clean, and went through everything that a run should go through now and then. */
export const expectClean = async (from: number, count: number): Promise<void> => {
  const { failed, runs, table } = await runSeeds(from, count);
  expect(failed.map(reportOf).join('\n')).toBe('');
  const rare = [...table].filter(([, seeds]) => seeds < runs / 100);
  expect(rare, 'these happened in less than 1 % of the seeds').toEqual([]);
};
