import { expect, test } from 'vitest';
import { InMemoryKeyValue } from '../../../../shared/adapters/in-memory/kv-store.ts';
import type { KeyValue } from '../../../../shared/adapters/kv/key-value.ts';
import { createLeases } from '../../../../shared/adapters/kv/leases.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { afterwards } from '../../../support/afterwards.ts';

const dayMs = 86_400_000;

test.each([
  ['forward', dayMs],
  ['back', -dayMs],
])(
  'F16: a wall clock that jumps a day %s takes no lease away, and lets nobody keep one that the broker gives to another',
  async (_, jumpMs) => {
    const virtual = new VirtualClock(1_790_000_000_000);
    let aheadMs = 0;
    const clock: Clock = {
      now: () => virtual.now() + aheadMs,
      monotonic: () => virtual.monotonic(),
      sleep: (ms, signal) => virtual.sleep(ms, signal),
    };
    const bucket = new InMemoryKeyValue({ clock });
    let isCutOff = false;
    const cutOff: KeyValue = {
      read: (key) => bucket.read(key),
      peek: (key) => bucket.peek(key),
      put: (key, value, options) =>
        isCutOff ? Promise.reject(new NatterError('unavailable', 'cut off')) : bucket.put(key, value, options),
      changes: (part, after, limit) => bucket.changes(part, after, limit),
      hint: (filter, wake) => bucket.hint(filter, wake),
      info: () => bucket.info(),
    };
    const story: string[] = [];
    const holds = (own: KeyValue, member: string): void => {
      const stopping = new AbortController();
      afterwards(async () => stopping.abort());
      void createLeases(own, clock).hold('work', member, stopping.signal, async (held) => {
        story.push(`${member} begins`);
        await clock.sleep(10 * dayMs, held);
        story.push(`${member} ends`);
      });
    };
    holds(cutOff, 'one');
    await virtual.pass(100);
    holds(bucket, 'two');
    await virtual.pass(1_500);
    aheadMs = jumpMs;
    await virtual.pass(10_000);
    expect(story).toEqual(['one begins']);
    isCutOff = true;
    aheadMs += jumpMs;
    await virtual.pass(6_000);
    expect(story).toEqual(['one begins', 'one ends', 'two begins']);
  },
);
