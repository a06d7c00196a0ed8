import { describe, expect, test, vi } from 'vitest';
import { InMemoryEventLog, type InMemoryEventLogOptions } from '../../../shared/adapters/in-memory/event-log.ts';
import {
  type CallOutcome,
  type Fault,
  type Faults,
  noFaults,
  SeededFaults,
  seededRandom,
} from '../../../shared/adapters/in-memory/faults.ts';
import { ungrouped } from '../../../shared/adapters/streams/group-commit.ts';
import type { Commit } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { commitTo, freshKey } from '../../support/domain/commits.ts';
import { appendMany, eventLogContract, first, revsOf, stored } from './event-log.contract.ts';

for (const [semantics, grouping] of [
  ['R1', { from: 3, singles: 2 }],
  ['R3', { from: 3, singles: 2 }],
  ['R1', ungrouped],
] as const) {
  eventLogContract(`memory, ${semantics} semantics, ${grouping === ungrouped ? 'without' : 'with'} groups`, async () => {
    const bad: number[] = [];
    const log = new InMemoryEventLog({ clock: systemClock, semantics, grouping, onBad: ({ seq }) => bad.push(seq) });
    return {
      log,
      bad,
      storeRaw: async (headline, key, data) => log.storeRaw(headline, key, data),
      close: async () => {},
    };
  });
}

describe('event log in memory: faults (F4)', () => {
  /** The next calls fail as said, in this order; those after them work. */
  const faultyLog = (faults: Fault[], options: Partial<InMemoryEventLogOptions> = {}): InMemoryEventLog => {
    const fate = (fault: Fault): CallOutcome => ({ fault, delayMs: 0, lateMs: 5, behind: 2 });
    const scripted: Faults = { next: () => fate(faults.shift() ?? 'none') };
    return new InMemoryEventLog({ clock: systemClock, semantics: 'R3', requestTimeoutMs: 5, faults: scripted, ...options });
  };

  /** The system's clock; `landed` resolves once so many of its sleeps have ended. */
  const clockThatTellsOf = (sleeps: number) => {
    let tell = (): void => {};
    const landed = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
      await systemClock.sleep(ms, signal);
      sleeps -= 1;
      if (sleeps === 0) setImmediate(tell);
    };
    return { clock: { ...systemClock, sleep }, landed };
  };

  test('an append without an answer is unknown, whether it was stored or not; last tells', async () => {
    const commit = commitTo(freshKey());
    const lost = faultyLog(['answer_lost']);
    expect(await lost.append(commit, 0)).toMatchObject({ kind: 'unknown' });
    expect(await lost.last(commit.key)).toMatchObject({ id: commit.id, seq: 1 });
    for (const fault of ['request_lost', 'unavailable'] as const) {
      const never = faultyLog([fault]);
      expect(await never.append(commit, 0)).toMatchObject({ kind: 'unknown' });
      expect(await never.last(commit.key)).toBeNull();
    }
  });

  test('a late append lands after its caller gave up, unless somebody else wrote meanwhile', async () => {
    const commit = commitTo(freshKey());
    const late = faultyLog(['landed_late']);
    expect(await late.append(commit, 0)).toMatchObject({ kind: 'unknown' });
    expect(await late.last(commit.key)).toBeNull();
    await vi.waitFor(async () => expect(await late.last(commit.key)).toMatchObject({ id: commit.id }));

    const { clock, landed } = clockThatTellsOf(2);
    const fenced = faultyLog(['landed_late'], { clock });
    const landing = fenced.append(commit, 0);
    const other = commitTo(commit.key);
    await stored(fenced, other, 0);
    await landing;
    await landed;
    expect(await revsOf(fenced, commit.key)).toEqual([1]);
    expect(await fenced.last(commit.key)).toMatchObject({ id: other.id });
  });

  test('a group without an answer is unknown as a whole, whether it was stored or not; one that is incomplete is tried one by one', async () => {
    const commits = (): Commit[] => [...Array(3)].map(() => commitTo(freshKey()));
    const append = (log: InMemoryEventLog, all: readonly Commit[]) => Promise.all(all.map((commit) => log.append(commit, 0)));
    for (const [fault, kinds, there] of [
      ['answer_lost', 'unknown', 3],
      ['request_lost', 'unknown', 0],
      ['unavailable', 'unknown', 0],
      ['landed_late', 'unknown', 3],
      ['incomplete', 'stored', 3],
    ] as const) {
      const log = faultyLog([fault], { grouping: { from: 3, singles: 1 } });
      const all = commits();
      expect((await append(log, all)).map(({ kind }) => kind)).toEqual([kinds, kinds, kinds]);
      await vi.waitFor(() => expect(log.stored().map(({ id }) => id)).toEqual(all.map(({ id }) => id).slice(0, there)));
    }
  });

  test('without the fence of each of its commits a group overwrites what another has written', async () => {
    const commits = [...Array(3)].map(() => commitTo(freshKey()));
    for (const [groupFences, revs] of [
      [true, [1]],
      [false, [1, 1]],
    ] as const) {
      const log = faultyLog([], { grouping: { from: 3, singles: 1 }, groupFences });
      const [victim] = commits;
      if (victim === undefined) throw new Error('no commit');
      await stored(log, commitTo(victim.key), 0);
      await Promise.all(commits.map((commit) => log.append(commit, 0)));
      expect(await revsOf(log, victim.key)).toEqual(revs);
    }
  });

  test('only a replicated log is stale, and only when it is read, never when last is asked', async () => {
    for (const [semantics, seen] of [
      ['R1', [1, 2, 3]],
      ['R3', [1]],
    ] as const) {
      const key = freshKey();
      const faults: Fault[] = [];
      const log = faultyLog(faults, { semantics });
      await appendMany(log, key, 3);
      faults.push('stale', 'stale');
      expect(await revsOf(log, key)).toEqual(seen);
      expect(await log.last(key)).toMatchObject({ rev: 3 });
    }
  });

  test('a repeat after the duplicate window is told by the expected sequence', async () => {
    let ahead = 0;
    const clock = { ...systemClock, now: () => Date.now() + ahead };
    const log = new InMemoryEventLog({ clock, semantics: 'R3' });
    const commit = commitTo(freshKey());
    await stored(log, commit, 0);
    expect(await log.append(commit, 0)).toMatchObject({ kind: 'unknown', cause: expect.stringContaining('already, as 1') });
    ahead = 120_000;
    expect(await log.append(commit, 0)).toMatchObject({ kind: 'unknown', cause: expect.stringContaining('10071') });
  });

  test('a replicated log names the two transient conflicts: a write in flight, and our own', async () => {
    const log = new InMemoryEventLog({ clock: systemClock, semantics: 'R3' });
    const commit = commitTo(freshKey());
    const results = await Promise.all([commit, commit, commitTo(commit.key)].map((each) => log.append(each, 0)));
    const text = results.map((result) => JSON.stringify(result));
    expect(text).toEqual([expect.stringContaining('stored'), expect.stringContaining('10158'), expect.stringContaining('10164')]);
  });

  test('the same seed gives the same fates, and healing ends them', async () => {
    const rates = { answer_lost: 0.2, landed_late: 0.2, stale: 0.2, unavailable: 0.2 };
    const fates = (seed: number, healed = false): CallOutcome[] => {
      const faults = new SeededFaults({ random: seededRandom(seed), rates, maxDelayMs: 20, maxLateMs: 50 });
      if (healed) faults.heal();
      return [...Array(50)].map(() => faults.next('append'));
    };
    expect(fates(7)).toEqual(fates(7));
    expect(fates(7)).not.toEqual(fates(8));
    expect(new Set(fates(7).map(({ fault }) => fault))).toEqual(new Set(['none', ...Object.keys(rates)]));
    expect(new Set(fates(7, true).map(({ fault }) => fault))).toEqual(new Set(['none']));
  });

  test('a follower of a faulty log misses nothing and repeats nothing', async () => {
    const rates = { stale: 0.4, unavailable: 0.01 };
    const faults = new SeededFaults({ random: seededRandom(3), rates, maxDelayMs: 2, maxLateMs: 0 });
    const log = new InMemoryEventLog({
      clock: systemClock,
      semantics: 'R3',
      faults: { next: (call) => (call === 'append' ? noFaults : faults).next(call) },
    });
    const key = freshKey();
    const following = first(log, { after: 0 }, 500);
    await appendMany(log, key, 500);
    expect((await following).map(({ rev }) => rev)).toEqual([...Array(500)].map((_, index) => index + 1));
  });
});
