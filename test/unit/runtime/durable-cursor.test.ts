import { expect, test } from 'vitest';
import { DurableCursor } from '../../../shared/runtime/durable-cursor.ts';

test('a position is written when it has moved, and again when a write failed', async () => {
  const written: number[] = [];
  let isAway = false;
  const put = async (_: string, seq: number): Promise<void> => {
    written.push(seq);
    if (isAway) throw new Error('away');
  };
  const cursor = new DurableCursor({ get: async () => 7, put }, 'reader');
  expect(await cursor.load()).toBe(7);
  await cursor.save(7);
  await cursor.save(8);
  await cursor.save(8);
  expect(written).toEqual([8]);
  isAway = true;
  await expect(cursor.save(9)).rejects.toThrow('away');
  isAway = false;
  await cursor.save(9);
  await cursor.save(9);
  expect(written).toEqual([8, 9, 9]);
});
