import { expect, test } from 'vitest';
import { warmUp } from '../../../../services/session/host/warm-up.ts';
import { OfflineModel } from '../../../../shared/adapters/model/offline.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { rig } from '../rig.ts';

test('a warm-up leaves nothing behind', async () => {
  const { ports, clock } = rig();
  await warmUp(new OfflineModel(clock), ports);
  expect(await ports.events.info()).toMatchObject({ lastSeq: 0 });
  expect(await ports.snapshots.get('warm-up' as never)).toBeNull();
});

test('a warm-up without a broker keeps no host from starting', async () => {
  const { ports, clock } = rig();
  const away = () => Promise.reject(new NatterError('unavailable', 'no broker'));
  const events = { ...ports.events, last: away };
  await expect(warmUp(new OfflineModel(clock), { ...ports, events })).resolves.toBeUndefined();
});
