import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { HealthReport } from '../../../shared/ports/presence.ts';
import { healthCodec } from '../../../shared/wire/records.ts';
import { bucketKey } from '../../../shared/wire/subjects.ts';
import type { CacheBroker } from '../../support/caches.ts';

const report = (process: string, change: Partial<HealthReport> = {}): HealthReport => ({
  ...{ v: 1, process, version: '1.2.3', startedAt: 1, at: 2 },
  services: [
    { name: 'session', member: 'session-1', problems: [], warnings: ['a tool is missing'], metrics: { turns_running: 3 } },
  ],
  ...change,
});

export const presenceContract = (broker: () => CacheBroker): void => {
  test('others see who is there, with the newest report of each, and no longer who has left', async () => {
    const [one, other] = [await broker().host(), await broker().host()];
    const names = [`session-1-${randomUUID()}`, `a.b %ü ${randomUUID()}`];
    const [first = '', second = ''] = names;
    const seen = async () => (await other.presence.list()).filter(({ process }) => names.includes(process));
    for (const name of names) await one.presence.tell(report(name));
    await one.presence.tell(report(first, { at: 3 }));
    await vi.waitFor(async () => expect((await seen()).map(({ at }) => at).sort()).toEqual([2, 3]));
    expect(await seen()).toContainEqual(report(second));
    await one.presence.leave(first);
    await vi.waitFor(async () => expect((await seen()).map(({ process }) => process)).toEqual([second]));
  });

  test('silence means gone', async () => {
    const { presence } = await broker().host();
    const name = `session-2-${randomUUID()}`;
    await presence.tell(report(name));
    await vi.waitFor(async () => expect((await presence.list()).some(({ process }) => process === name)).toBe(true));
    const gone = async () => expect((await presence.list()).every(({ process }) => process !== name)).toBe(true);
    await vi.waitFor(gone);
  });

  test('a report that a killed broker brought back, and never ends, does not count', async () => {
    const { presence } = await broker().host();
    const name = `session-3-${randomUUID()}`;
    const seen = async () => (await presence.list()).some(({ process }) => process === name);
    await vi.waitFor(async () => {
      await broker().buckets.hosts.put(bucketKey('health', name), healthCodec.encode(report(name)));
      // A replica may not have it yet, and it counts for three seconds only.
      await vi.waitFor(async () => expect(await seen()).toBe(true), { timeout: 2_000 });
    });
    await vi.waitFor(async () => expect(await seen()).toBe(false));
  });
};
