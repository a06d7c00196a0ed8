import { expect, test } from 'vitest';
import type { LogView, LogWitness } from '../../../shared/domain/session/log-witness.ts';
import { DurableCursor } from '../../../shared/runtime/durable-cursor.ts';
import { commitTo, freshKey, recorded, seenAt } from '../../support/domain/commits.ts';

const commit = recorded(commitTo(freshKey()), 8);

const open = (known: LogWitness, change: Partial<LogView> = {}) => {
  const written: LogWitness[] = [];
  const far = { isAway: false };
  const put = async (_: string, seen: LogWitness): Promise<void> => {
    written.push(seen);
    if (far.isAway) throw new Error('away');
  };
  const view = async (): Promise<LogView> => ({ incarnation: 5, lastSeq: 9, digest: 'of 7', ...change });
  const cursors = { get: async () => known, put, all: async () => new Map() };
  return { cursor: new DurableCursor({ cursors, events: { view } as never }, 'reader'), written, far };
};

test('a position is written when it has moved, and again when a write failed', async () => {
  const { cursor, written, far } = open(seenAt(7));
  expect(await cursor.load()).toBe(7);
  await cursor.save(7);
  cursor.note(commit);
  await cursor.save(8);
  await cursor.save(8);
  const eighth = { incarnation: 5, seq: 8, digest: commit.digest };
  expect(written).toEqual([eighth]);
  far.isAway = true;
  await expect(cursor.save(9)).rejects.toThrow('away');
  far.isAway = false;
  await cursor.save(9);
  await cursor.save(9);
  const ninth = { incarnation: 5, seq: 9, digest: null };
  expect(written).toEqual([eighth, ninth, ninth]);
});

test.each<[string, LogWitness, Partial<LogView>]>([
  ['ends earlier', seenAt(7), { lastSeq: 6 }],
  ['was created anew', { ...seenAt(7), incarnation: 4 }, {}],
  ['has another commit there', { incarnation: 5, seq: 7, digest: 'of another' }, {}],
])('a log that %s is not read on (I13)', async (_, known, change) => {
  await expect(open(known, change).cursor.load()).rejects.toMatchObject({ code: 'log_regressed' });
});
