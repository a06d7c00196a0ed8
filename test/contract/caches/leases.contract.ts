import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../shared/kit/clock.ts';
import { encode } from '../../../shared/wire/codec.ts';
import { bucketKey } from '../../../shared/wire/subjects.ts';
import type { CacheBroker, CacheHost } from '../../support/caches.ts';

/** What the holders of one lease did, in order. */
interface Story {
  readonly lines: string[];
  working: number;
  most: number;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Holds a lease until told to stop, and writes down when it works. */
const holder = (host: CacheHost, lease: string, member: string, story: Story, work?: (held: AbortSignal) => Promise<void>) => {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const done = host.leases.hold(lease, member, stop.signal, async (held) => {
    story.lines.push(`${member} begins`);
    story.most = Math.max(story.most, ++story.working);
    await (work?.(held) ?? aborted(held)).finally(() => {
      story.working--;
      story.lines.push(`${member} ends`);
    });
  });
  return {
    done,
    stop: () => {
      stop.abort();
      return done;
    },
  };
};
const newStory = (): Story => ({ lines: [], working: 0, most: 0 });
const often = { interval: 5 };

export const leasesContract = (broker: () => CacheBroker): void => {
  test('one member works at a time; a member that goes hands over at once', async () => {
    const [lease, story] = [randomUUID(), newStory()];
    const members = new Map<string, ReturnType<typeof holder>>();
    for (const name of ['a', 'b', 'c']) members.set(name, holder(await broker().host(), lease, name, story));
    for (let left = 3; left > 0; left--) {
      await vi.waitFor(() => expect(story.working).toBe(1), often);
      const name = story.lines.at(-1)!.split(' ')[0]!;
      const startedAt = systemClock.monotonic();
      await members.get(name)!.stop();
      if (left === 1) break;
      await vi.waitFor(() => expect(story.working).toBe(1), often);
      expect(systemClock.monotonic() - startedAt, 'ms, where a lease lasts 3,000').toBeLessThan(1_500);
    }
    expect(story.most).toBe(1);
    expect(story.lines).toHaveLength(6);
  });

  test('a lease is kept for longer than it lasts unrenewed, while another waits', async () => {
    const [lease, story] = [randomUUID(), newStory()];
    const first = holder(await broker().host(), lease, 'first', story);
    await vi.waitFor(() => expect(story.working).toBe(1), often);
    const second = holder(await broker().host(), lease, 'second', story);
    const from = systemClock.monotonic();
    await vi.waitFor(() => expect(systemClock.monotonic() - from).toBeGreaterThan(4_500), often);
    expect(story.lines).toEqual(['first begins']);
    await first.stop();
    await vi.waitFor(() => expect(story.lines).toEqual(['first begins', 'first ends', 'second begins']), often);
    await second.stop();
  });

  test('a member that dies is followed soon, and knows before that it has lost the lease', async () => {
    const [lease, story, dying] = [randomUUID(), newStory(), await broker().host()];
    const first = holder(dying, lease, 'dying', story);
    await vi.waitFor(() => expect(story.working).toBe(1), often);
    const second = holder(await broker().host(), lease, 'second', story);
    await dying.kill();
    await vi.waitFor(() => expect(story.lines).toEqual(['dying begins', 'dying ends', 'second begins']), {
      ...often,
      timeout: 15_000,
    });
    expect(story.most).toBe(1);
    await Promise.all([first.stop(), second.stop()]);
  });

  test('a lease that a killed broker brought back, and never ends, is taken once nobody has renewed it for long', async () => {
    const [lease, story] = [randomUUID(), newStory()];
    await broker().buckets.hosts.put(bucketKey('lease', lease), encode({ member: 'gone', after: 0 }));
    const next = holder(await broker().host(), lease, 'next', story);
    await vi.waitFor(() => expect(story.lines).toEqual(['next begins']), { ...often, timeout: 15_000 });
    await next.stop();
  });

  test('work that fails is reported and begun again', async () => {
    const [lease, story, host] = [randomUUID(), newStory(), await broker().host()];
    const failing = holder(host, lease, 'a', story, async (held) => {
      if (story.lines.length < 3) throw new Error('not yet');
      await aborted(held);
    });
    await vi.waitFor(() => expect(story.lines).toEqual(['a begins', 'a ends', 'a begins']), often);
    expect(host.complaints).toMatchObject([{ message: 'not yet' }]);
    await failing.stop();
  });

  test('a member that stops while it waits returns at once and never works', async () => {
    const [lease, story] = [randomUUID(), newStory()];
    const first = holder(await broker().host(), lease, 'first', story);
    await vi.waitFor(() => expect(story.working).toBe(1), often);
    await holder(await broker().host(), lease, 'second', story).stop();
    expect(story.lines).toEqual(['first begins']);
    await first.stop();
  });

  test('leases of different names do not know each other', async () => {
    const [host, story] = [await broker().host(), newStory()];
    const both = [holder(host, randomUUID(), 'a', story), holder(host, `${randomUUID()}.x y`, 'b', story)];
    await vi.waitFor(() => expect(story.working).toBe(2), often);
    await Promise.all(both.map((each) => each.stop()));
  });
};
