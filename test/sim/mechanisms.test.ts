import { expect, test } from 'vitest';
import { runSeeds } from './seeds.ts';
import { mechanisms, unaware } from './world/mechanisms.ts';

/** Seeds within which the checkers have to notice. */
const bound = 60;

/** The invariant that goes first when a mechanism is missing. */
const guarded = {
  fencing: 'I3',
  groupFences: 'I3',
  deduplication: 'I2',
  idMemory: 'I2',
  stopOnUncommitted: 'I1',
  freshness: 'I1',
  intents: 'I6',
  oneOutstanding: 'I1',
} as const;

test.each(Object.entries(guarded))('without %s the checkers find %s broken', { timeout: 300_000 }, async (name, invariant) => {
  const { failed } = await runSeeds(1, bound, { change: mechanisms[name] ?? {} });
  expect(failed.flatMap(({ findings }) => findings).filter((finding) => finding.startsWith(`${invariant} `))).not.toEqual([]);
});

test('hosts that believe they still own what others have gone on with do no harm (F3)', { timeout: 300_000 }, async () => {
  const { failed, table } = await runSeeds(1, 20, { change: unaware });
  expect(failed.flatMap(({ findings }) => findings)).toEqual([]);
  expect(table.get('zombie went on')).toBe(20);
});
