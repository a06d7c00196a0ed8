import { expect, test } from 'vitest';
import { InMemoryKeyValue } from '../../../../shared/adapters/in-memory/kv-store.ts';
import { createReadMarks } from '../../../../shared/adapters/kv/read-marks.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';

test('B24: how far somebody has read a session is kept for 30 days', async () => {
  let ahead = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  const marks = createReadMarks(new InMemoryKeyValue({ clock }), clock);
  const key = 'agent:main:main' as SessionKey;
  const view = await marks.watch();
  try {
    await marks.put({ person: 'ann', key, seq: 7 });
    for (const [days, seq] of [
      [29, 7],
      [30, 0],
    ] as const) {
      ahead = days * 86_400_000;
      await view.refresh();
      expect(view.seqOf('ann', key)).toBe(seq);
    }
    expect(limits.unreadMs).toBe(30 * 86_400_000);
  } finally {
    await view.close();
  }
});
