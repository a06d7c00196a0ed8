import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { EventFeed } from '../../../services/gateway/context/event-feed.ts';
import { SessionList } from '../../../services/gateway/context/session-list.ts';
import { InMemoryAttachments } from '../../../shared/adapters/in-memory/attachments.ts';
import { InMemoryEventLog } from '../../../shared/adapters/in-memory/event-log.ts';
import { InMemoryKeyValue } from '../../../shared/adapters/in-memory/kv-store.ts';
import { createEraser } from '../../../shared/adapters/streams/eraser.ts';
import { waitForReplica } from '../../../shared/kit/wait-for-replica.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { VirtualClock } from '../../sim/world/virtual-clock.ts';
import { unrecorded } from '../../support/domain/commits.ts';
import { key, tell } from '../../support/domain/given.ts';

/** A log with a history that ends with an erasure; its replica lacks the last commits for the first `staleReads` reads. */
const lagging = async (staleReads: number) => {
  const clock = new VirtualClock(1_790_000_000_000);
  let reads = 0;
  let isStale = false;
  const next = (call: string) => {
    const fault = isStale && call === 'read' && ++reads <= staleReads ? ('stale' as const) : ('none' as const);
    return { fault, delayMs: 0, lateMs: 0, behind: 2 };
  };
  const events = new InMemoryEventLog({ clock, semantics: 'R3', faults: { next } });
  const { commits } = tell('post m1', 'reply m1/1 1', 'append m2', 'delete erased');
  let lastSeq = 0;
  for (const commit of commits) {
    const stored = await events.append(unrecorded(commit), lastSeq);
    if (stored.kind === 'stored') lastSeq = stored.seq;
  }
  isStale = true;
  return { clock, events, lastSeq };
};
type Lagging = Awaited<ReturnType<typeof lagging>>;

/** Who reads up to what the leader has; each tells the sequence it came to. */
const readers: Readonly<Record<string, (log: Lagging) => Promise<number | undefined>>> = {
  'the row of a session': async ({ events, clock }) => {
    const index = { watch: () => new Promise(() => {}) } as unknown as Ports['index'];
    return (await new SessionList({ events, clock, index }, 'main').row(key))?.seq;
  },
  'an erasure': async ({ events, clock, lastSeq }) => {
    const nothing = async () => 0;
    const store = {
      commits: nothing,
      commands: nothing,
      timers: nothing,
      custody: nothing,
      deadLetters: nothing,
      memory: async () => {},
    };
    const memory = new InMemoryKeyValue({ clock });
    const snapshots = { get: async () => null, put: async () => {} };
    const attachments = new InMemoryAttachments(clock);
    await createEraser({ events, clock, snapshots, attachments, memory, store, subjects: subjectsUnder('natter') }).erase(
      key,
      lastSeq,
    );
    return lastSeq;
  },
};

describe('a replica that lags behind its leader (R3)', () => {
  test.each(Object.entries(readers))('%s waits for it', async (_, reader) => {
    const log = await lagging(5);
    const read = reader(log);
    await log.clock.pass(1_000);
    expect(await read).toBe(log.lastSeq);
  });

  test.each(Object.entries(readers))('%s does not wait for ever, and nothing old passes for the truth', async (_, reader) => {
    const log = await lagging(Number.POSITIVE_INFINITY);
    const read = expect(reader(log)).rejects.toMatchObject({ code: 'unavailable' });
    await log.clock.pass(10_000);
    await read;
  });

  test('a stream waits for it, and leaves out nothing', async () => {
    const { clock, events, lastSeq } = await lagging(5);
    const feed = new EventFeed(events, clock, pino({ level: 'silent' }));
    await clock.pass(10);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { seq } of feed.follow({ after: 0, key, signal: new AbortController().signal })) {
        seen.push(seq);
        if (seq === lastSeq) return;
      }
    })();
    await clock.pass(1_000);
    await reading;
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test('the waits grow, end after about four seconds, and end at once when nobody wants them any more', async () => {
    const clock = new VirtualClock(0);
    const waits = (async () => {
      for (let attempt = 1; await waitForReplica(clock, attempt); attempt += 1);
      return clock.now();
    })();
    await clock.pass(10_000);
    expect(await waits).toBeGreaterThan(3_000);
    expect(await waits).toBeLessThan(5_000);
    expect(await waitForReplica(clock, 1, AbortSignal.abort())).toBe(false);
  });
});
