import { expect, test, vi } from 'vitest';
import { warmUp } from '../../../../services/session/host/warm-up.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { rig } from '../rig.ts';

test('a warm-up goes through whole turns, and leaves nothing behind', async () => {
  const [{ host, system }, { ports }] = [rig(), rig()];
  const last = vi.spyOn(ports.events, 'last');
  await warmUp(host, ports);
  // A start waits for them.
  expect(last.mock.calls.length).toBeLessThanOrEqual(20);
  expect(last).toHaveBeenCalled();
  const types = new Set(system.events.stored().flatMap(({ events }) => events.map(({ type }) => type)));
  expect([...types]).toEqual(expect.arrayContaining(['turn_completed', 'tool_result']));
  expect(host.counts).toMatchObject({ loads: 8, refused: 0, duplicates: 0, uncommitted: 0 });
  expect(host.snapshots.written).toBeGreaterThan(0);
  expect([host.residents, host.turns.running]).toEqual([0, 0]);
  expect(await ports.events.info()).toMatchObject({ lastSeq: 0 });
  expect(await ports.snapshots.get('agent:warm-up:main' as never)).toBeNull();
});

test('a warm-up without a broker keeps no host from starting', async () => {
  const { ports } = rig();
  const away = () => Promise.reject(new NatterError('unavailable', 'no broker'));
  const events = { ...ports.events, last: away };
  await expect(warmUp(rig().host, { ...ports, events })).resolves.toBeUndefined();
});
