import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogTail } from '../../shared/adapters/streams/log-tail.ts';
import type { StoredMessage } from '../../shared/adapters/streams/stored-message.ts';
import { runs } from '../support/runs.ts';
import { CountedLog, type Follower, type Written } from '../support/streams/counted-log.ts';

/** Any interleaving of appends, quick and slow followers that come and go, replicas that lag and reads that fail, on a tail that keeps little. */

const followerCount = 4;
const who = fc.nat(followerCount - 1);
const written: fc.Arbitrary<Written> = fc.record({
  key: fc.nat(2),
  kind: fc.constantFrom('commit' as const, 'commit' as const, 'commit' as const, 'bad' as const),
});
type Step = (world: World) => void | Promise<void>;
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.array(written, { minLength: 1, maxLength: 9 }).map((all) => (world: World) => world.write(all)) },
  {
    weight: 8,
    arbitrary: fc.tuple(who, fc.nat(12)).map(
      ([index, count]) =>
        (world: World) =>
          world.take(index, count),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(who, fc.nat(100)).map(
      ([index, percent]) =>
        (world: World) =>
          world.restart(index, percent),
    ),
  },
  { weight: 2, arbitrary: fc.nat(3).map((lag) => (world: World) => world.lag(lag)) },
  {
    weight: 1,
    arbitrary: who.map(
      (index) =>
        ({ log }: World) =>
          void log.failing.add(`f${index}`),
    ),
  },
  { weight: 2, arbitrary: fc.constant(({ log }: World) => log.failing.clear()) },
  {
    weight: 3,
    arbitrary: fc.nat(1_200).map(
      (ms) =>
        ({ log }: World) =>
          log.clock.pass(ms),
    ),
  },
);

class World {
  readonly log = new CountedLog();
  readonly #tail: LogTail;
  readonly #running: (Follower | null)[] = Array.from({ length: followerCount }, () => null);
  readonly #all: Follower[] = [];

  constructor(tail: LogTail) {
    this.#tail = tail;
    for (const [index] of this.#running.entries()) this.restart(index, 0);
  }

  write(all: readonly Written[]): void {
    for (const one of all) this.log.write(one);
  }

  /** A replica lacks so many messages from now on. */
  lag(messages: number): void {
    this.log.lag = Math.min(messages, this.log.messages.length);
  }

  /** Starts a follower anew, from any place. */
  restart(index: number, percent: number): void {
    this.#running[index]?.stop();
    const follower = this.log.follow(`f${index}`, this.#tail, Math.floor((this.log.messages.length * percent) / 100));
    this.#running[index] = follower;
    this.#all.push(follower);
  }

  async take(index: number, count: number): Promise<void> {
    for (let taken = 0; taken < count; taken++) {
      this.#running[index]?.take();
      await this.log.clock.pass(2);
    }
  }

  /** True if each follower got what comes after its place, in order, and those that still run got all of it in the end. */
  async isRight(): Promise<boolean> {
    this.log.failing.clear();
    this.log.lag = 0;
    for (const follower of this.#running) follower?.takeAll();
    await this.log.clock.pass(10_000);
    return this.#all.every((follower) => {
      const due = this.log.seqs().filter((seq) => seq > follower.after);
      const isComplete = !this.#running.includes(follower) || follower.seqs.length === due.length;
      return isComplete && follower.seqs.every((seq, at) => seq === due[at]);
    });
  }
}

const rightWith = (create: () => LogTail) =>
  fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
    const world = new World(create());
    for (const each of steps) await each(world);
    return world.isRight();
  });

const commits = 6;

test.each([
  ['that keeps little', { commits }],
  ['that keeps few bytes', { bytes: 10 * commits }],
  ['that is switched off', { shares: false }],
])('with a tail %s each follower gets exactly the commits after its position, in order', async (_, options) => {
  await fc.assert(
    rightWith(() => new LogTail(options)),
    { numRuns: runs(300) },
  );
});

class Skipping extends LogTail {
  protected override covers(): boolean {
    return true;
  }
}
class Repeating extends LogTail {
  protected override since(messages: readonly StoredMessage[], after: number): readonly StoredMessage[] {
    return super.since(messages, after - 1);
  }
}

test.each([
  ['skips where its memory begins', () => new Skipping({ commits })],
  ['repeats where a follower joins it', () => new Repeating({ commits })],
])('the property notices a tail that %s', async (_, create) => {
  expect((await fc.check(rightWith(create), { numRuns: 500 })).failed).toBe(true);
});
