import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CustodyLog, CustodyRecord } from '../../shared/ports/custody-log.ts';
import { happenings, type Planted, play, type Story } from '../support/platform/delivery-world.ts';
import { runs } from '../support/runs.ts';

/** Replies of one to five parts under any faults of the platform and any deaths of the process (I9, D12). */

const story: fc.Arbitrary<Story> = fc.record({
  replies: fc.array(fc.record({ parts: fc.integer({ min: 1, max: 5 }), to: fc.constantFrom('ann', 'bob') }), {
    minLength: 1,
    maxLength: 4,
  }),
  happenings: fc.array(fc.constantFrom(...happenings), { maxLength: 12 }),
  kills: fc.array(
    fc.integer({ min: 1, max: 40 }).chain((at) => fc.constantFrom(at, -at)),
    { maxLength: 4 },
  ),
  by: fc.constantFrom('key' as const, 'ask', 'neither'),
});
const holdsIn = (planted: Planted) =>
  fc.asyncProperty(story, async (told) => {
    expect((await play(told, planted)).problems).toEqual([]);
  });

test('no part is stored twice or missing or out of order, and what custody says of it is true', async () => {
  await fc.assert(holdsIn({}), { numRuns: runs(60) });
});

test('the stories reach every end', async () => {
  const told = await Promise.all(fc.sample(story, { numRuns: 50, seed: 3 }).map((each) => play(each)));
  expect([...new Set(told.flatMap(({ states }) => states))].sort()).toEqual(['delivered', 'failed', 'partial', 'unknown']);
});

const remembering =
  (change: (record: CustodyRecord) => CustodyRecord) =>
  (custody: CustodyLog): CustodyLog => ({
    ...custody,
    last: async (target) => {
      const last = await custody.last(target);
      return last && { ...last, record: last.record && change(last.record) };
    },
  });

test.each<[string, Planted]>([
  ['the platform does not recognise ids, although the outlet says so', { recognises: false }],
  ['the platform says that nothing has arrived', { find: () => ({ kind: 'not_sent' }) }],
  ['it is believed too soon that nothing has arrived', { settlesMs: 0 }],
  ['the platform says that everything has arrived', { find: () => ({ kind: 'sent' }) }],
  ['an unknown outcome is taken for success', { send: (result) => (result.kind === 'unknown' ? { kind: 'sent' } : result) }],
  [
    'an unknown outcome is taken for a refusal',
    { send: (result) => (result.kind === 'unknown' ? { kind: 'refused', failure: 'transient', detail: '' } : result) },
  ],
  [
    'an intent is forgotten',
    { custody: remembering((record) => (record.state === 'sending' ? { ...record, state: 'prepared' } : record)) },
  ],
  [
    'parts that were sent are forgotten',
    { custody: remembering((record) => (record.parts ? { ...record, parts: { ...record.parts, done: [] } } : record)) },
  ],
  [
    'an intent is taken for success',
    { custody: remembering((record) => (record.state === 'sending' ? { ...record, state: 'delivered' } : record)) },
  ],
])('notices when %s', async (_, planted) => {
  const { failed } = await fc.check(holdsIn(planted), { numRuns: 3_000, endOnFailure: true });
  expect(failed).toBe(true);
});
