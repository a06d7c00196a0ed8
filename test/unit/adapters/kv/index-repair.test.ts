import { expect, test } from 'vitest';
import { InMemoryKeyValue } from '../../../../shared/adapters/in-memory/kv-store.ts';
import { createIndexRepair } from '../../../../shared/adapters/kv/index-repair.ts';
import { createSessionIndex } from '../../../../shared/adapters/kv/session-index.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { emptyRow } from '../../../../shared/domain/projections/index-row.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';

const rowAt = (seq: number) => ({ ...emptyRow(`agent:main:k${seq}` as SessionKey), seq, rev: 1 });

/** An index with the rows of three sessions, whose last commits have the sequences 3, 4 and 5. */
const rig = async () => {
  const bucket = new InMemoryKeyValue({ clock: systemClock });
  const index = createSessionIndex(bucket, systemClock);
  await index.put([3, 4, 5].map(rowAt), 5);
  return { bucket, index, repair: createIndexRepair(bucket) };
};

test('the rows that reflect more than the log has are found, and taken back with the position', async () => {
  const { index, repair } = await rig();
  expect(await repair.ahead(3)).toEqual(['agent:main:k4', 'agent:main:k5']);
  await repair.replace('agent:main:k4' as SessionKey, { ...rowAt(4), seq: 2 });
  await repair.replace('agent:main:k5' as SessionKey, null);
  await repair.lower(3);
  expect([await repair.ahead(3), await index.position(), await index.get('agent:main:k5' as SessionKey)]).toEqual([[], 3, null]);
  await repair.lower(4);
  expect(await index.position(), 'it is never raised').toBe(3);
});

test('nothing is said of the rows while a replica lags behind: what it lacks would stay', async () => {
  const { bucket } = await rig();
  const atStart = await bucket.changes('session', 0, 9);
  const lagging = Object.assign(Object.create(bucket), { put: bucket.put.bind(bucket), changes: async () => atStart });
  await expect(createIndexRepair(lagging).ahead(3)).rejects.toMatchObject({ code: 'unavailable', message: /replica/ });
});
