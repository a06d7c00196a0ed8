import { describe, expect, test } from 'vitest';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventLog, FollowOptions } from '../../../shared/ports/event-log.ts';
import { LogFollower } from '../../../shared/runtime/log-follower.ts';
import { VirtualClock } from '../../sim/world/virtual-clock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));
const retries = { firstMs: 100, mostMs: 400 };

/** A log of the sequences 1 to `end`. It fails before each of `breaksBefore`, once. */
const logOf = (end: number, breaksBefore: readonly number[] = []) => {
  const breaks = new Set(breaksBefore);
  const followed: FollowOptions[] = [];
  const follow = async function* (options: FollowOptions): AsyncGenerator<RecordedCommit> {
    followed.push(options);
    for (let seq = options.after + 1; seq <= end; seq++) {
      if (breaks.delete(seq)) throw new Error(`broken before ${seq}`);
      if (options.signal.aborted) return;
      yield { seq } as RecordedCommit;
    }
    if (!options.signal.aborted) await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
  };
  return { events: { follow } as Pick<EventLog, 'follow'>, followed };
};

const following = (log: ReturnType<typeof logOf>, start: () => Promise<number> = async () => 2) => {
  const follower = new LogFollower({ events: log.events, start, headlines: ['notice'], readPauseMs: 20 });
  const [taken, failures, stop, clock] = [[] as number[], [] as string[], new AbortController(), new VirtualClock(0)];
  const take = ({ seq }: RecordedCommit): void => {
    taken.push(seq);
  };
  const resuming = {
    clock,
    retries,
    reading: () => failures.push(`reading after ${follower.position}`),
    failed: (error: unknown) => failures.push((error as Error).message),
  };
  return { follower, taken, failures, stop, clock, take, resuming };
};

describe('run', () => {
  test('hands on what comes after the start position, in order, until it is stopped', async () => {
    const log = logOf(5);
    const { follower, taken, stop, take } = following(log);
    expect(follower.position).toBe(0);
    const running = follower.run(stop.signal, take);
    await settle();
    expect([taken, follower.position]).toEqual([[3, 4, 5], 5]);
    expect(log.followed).toMatchObject([{ after: 2, headlines: ['notice'], pauseMs: 20 }]);
    stop.abort();
    await running;
  });

  test('hands a commit on once the one before is dealt with; only then is that one’s position passed', async () => {
    const { follower, taken, stop, take } = following(logOf(5));
    const dealtWith: (() => void)[] = [];
    void follower.run(stop.signal, async (commit) => {
      take(commit);
      await new Promise<void>((resolve) => dealtWith.push(resolve));
    });
    await settle();
    expect([taken, follower.position]).toEqual([[3], 2]);
    dealtWith[0]?.();
    await settle();
    expect([taken, follower.position]).toEqual([[3, 4], 3]);
  });

  test('a commit that could not be dealt with comes again, one that was does not', async () => {
    const { follower, taken, stop, take } = following(logOf(5));
    const failing = follower.run(stop.signal, (commit) => {
      take(commit);
      if (commit.seq === 4) throw new Error('no room');
    });
    await expect(failing).rejects.toThrow('no room');
    expect(follower.position).toBe(3);
    void follower.run(stop.signal, take);
    await settle();
    expect(taken).toEqual([3, 4, 4, 5]);
  });

  test('a start position that cannot be read is asked for again by the next run, a known one is not', async () => {
    const answers = [new Error('away'), 4, 0];
    const { follower, taken, stop, take } = following(logOf(5, [5]), async () => {
      const answer = answers.shift();
      if (typeof answer !== 'number') throw answer;
      return answer;
    });
    await expect(follower.run(stop.signal, take)).rejects.toThrow('away');
    await expect(follower.run(stop.signal, take)).rejects.toThrow('broken before 5');
    void follower.run(stop.signal, take);
    await settle();
    expect([taken, answers]).toEqual([[5], [0]]);
  });
});

describe('runResuming', () => {
  test('goes on after the last commit dealt with, nothing lost and nothing twice', async () => {
    const { follower, taken, failures, stop, clock, take, resuming } = following(logOf(6, [4, 6]));
    const running = follower.runResuming(stop.signal, take, resuming);
    await settle();
    expect(taken).toEqual([3]);
    await clock.pass(99);
    expect(taken).toEqual([3]);
    await clock.pass(1);
    await settle();
    expect(taken).toEqual([3, 4, 5]);
    await clock.pass(100);
    await settle();
    expect(taken).toEqual([3, 4, 5, 6]);
    expect(failures).toEqual(['reading after 2', 'broken before 4', 'reading after 3', 'broken before 6', 'reading after 5']);
    stop.abort();
    await running;
  });

  test('pauses longer with each failure in a row, up to the bound', async () => {
    const startedAt: number[] = [];
    const { follower, stop, clock, take, resuming } = following(logOf(5), async () => {
      startedAt.push(clock.monotonic());
      throw new Error('away');
    });
    const running = follower.runResuming(stop.signal, take, resuming);
    await clock.pass(1_500);
    expect(startedAt).toEqual([0, 100, 300, 700, 1_100, 1_500]);
    stop.abort();
    await running;
  });

  test('pauses longer while the same commit fails, and forgets the failures once it is handled', async () => {
    const { follower, stop, clock, resuming } = following(logOf(5, [5]));
    const triedAt: number[] = [];
    const running = follower.runResuming(
      stop.signal,
      async ({ seq }) => {
        triedAt.push(clock.monotonic());
        if (seq === 3 && triedAt.length < 5) throw new Error('not yet');
      },
      resuming,
    );
    await clock.pass(1_600);
    // Four times in vain, then 3 and 4; the log breaks before 5, and the pause is the first one again.
    expect(triedAt).toEqual([0, 100, 300, 700, 1_100, 1_100, 1_200]);
    stop.abort();
    await running;
  });

  test('a stop during a pause ends it at once', async () => {
    const { follower, taken, stop, clock, take, resuming } = following(logOf(5, [4]));
    const running = follower.runResuming(stop.signal, take, resuming);
    await settle();
    stop.abort();
    await running;
    await clock.pass(1_000);
    expect(taken).toEqual([3]);
  });
});
