import { expect, test } from 'vitest';
import { LogTail } from '../../../../shared/adapters/streams/log-tail.ts';
import { CountedLog, type Follower } from '../../../support/streams/counted-log.ts';

/** Ten followers of one log, each from its beginning. */
const followers = (log: CountedLog, tail: LogTail, after = 0): Follower[] =>
  [...Array(10).keys()].map((number) => {
    const follower = log.follow(`f${number}`, tail, after);
    follower.takeAll();
    return follower;
  });

const second = 1_000;

/** What ten followers of a process that idles for ten seconds and then gets five commits cost the broker. */
const costOf = async (tail: LogTail) => {
  const log = new CountedLog();
  const all = followers(log, tail);
  await log.clock.pass(10 * second);
  const idleReads = log.reads.length;
  for (let commit = 0; commit < 5; commit++) {
    log.write();
    await log.clock.pass(10);
  }
  expect(all.map(({ seqs }) => seqs)).toEqual(all.map(() => [1, 2, 3, 4, 5]));
  return { idleReads, reads: log.reads.length - idleReads, decoded: log.decoded, subscriptions: log.subscriptions };
};

test('ten followers of a process cost the broker what one costs: each commit is read and decoded once', async () => {
  expect(await costOf(new LogTail())).toEqual({ idleReads: expect.any(Number), reads: 5, decoded: 5, subscriptions: 1 });
  expect(await costOf(new LogTail({ shares: false }))).toMatchObject({ reads: 50, decoded: 50, subscriptions: 10 });
});

test('what this process wrote is read before the broker says so, and not once more when it does', async () => {
  const log = new CountedLog();
  const tail = new LogTail();
  const all = followers(log, tail);
  await log.clock.pass(10 * second);
  const idleReads = log.reads.length;
  log.delaysHints = true;
  for (let commit = 1; commit <= 5; commit++) {
    log.write();
    tail.wrote(commit, `d${commit}`);
    await log.clock.pass(2);
    expect(all.map(({ seqs }) => seqs.at(-1))).toEqual(all.map(() => commit));
    log.hint();
    await log.clock.pass(2);
  }
  expect(log.reads.length - idleReads).toBe(5);
});

test('what this process wrote is decoded with the digest of what it sent, once, and what others wrote without', async () => {
  const log = new CountedLog();
  const tail = new LogTail({ commits: 2 });
  followers(log, tail);
  await log.clock.pass(10 * second);
  log.lag = 5;
  for (let seq = 1; seq <= 5; seq++) {
    log.write();
    if (seq !== 4) tail.wrote(seq, `d${seq}`);
  }
  log.lag = 0;
  await log.clock.pass(10 * second);
  // Only so many are remembered.
  expect(log.own).toEqual([undefined, undefined, 'd3', undefined, 'd5']);
});

test('a connection that is there again wakes everybody, whatever was heard before', async () => {
  const log = new CountedLog();
  const tail = new LogTail();
  followers(log, tail);
  tail.wrote(9, 'd9');
  await log.clock.pass(10 * second);
  const before = log.reads.length;
  log.reconnect();
  await log.clock.pass(2);
  expect(log.reads.length).toBeGreaterThan(before);
});

test('while nothing happens, one look serves all', async () => {
  const [{ idleReads: shared }, { idleReads: alone }] = [
    await costOf(new LogTail()),
    await costOf(new LogTail({ shares: false })),
  ];
  expect(shared).toBeGreaterThan(1);
  expect(5 * shared).toBeLessThan(alone);
});

test('a follower that stands still holds up nobody, and reads by itself until it has caught up', async () => {
  const log = new CountedLog();
  const tail = new LogTail({ commits: 8 });
  const slow = log.follow('slow', tail, 0);
  const quick = log.follow('quick', tail, 0);
  quick.takeAll();
  log.write();
  slow.take();
  await log.clock.pass(second);
  for (let commit = 0; commit < 40; commit++) {
    log.write();
    await log.clock.pass(2);
  }
  expect(quick.seqs).toEqual(log.seqs());
  expect(slow.seqs).toEqual([1]);
  const before = log.reads.length;
  slow.takeAll();
  await log.clock.pass(second);
  expect(slow.seqs).toEqual(log.seqs());
  const own = log.reads.slice(before).filter(({ by, after }) => by === 'slow' && after < 33);
  expect(own.map(({ after }) => after)).toEqual([1, 5, 9, 13, 17, 21, 25, 29]);
  const later = log.reads.length;
  log.write();
  await log.clock.pass(10);
  expect(slow.seqs).toEqual(log.seqs());
  expect(log.reads.length - later).toBe(1);
});

test('each follower is told of a message that is not a commit', async () => {
  const log = new CountedLog();
  followers(log, new LogTail());
  log.write({ key: 0, kind: 'bad' });
  log.write();
  await log.clock.pass(second);
  expect(log.bad.map(({ by }) => by).sort()).toEqual([...Array(10).keys()].map((number) => `f${number}`));
});

test('what fails for one follower works for the others, and it has what they read', async () => {
  const log = new CountedLog();
  const all = followers(log, new LogTail());
  log.failing.add('f0');
  await log.clock.pass(5 * second);
  for (let commit = 0; commit < 5; commit++) log.write();
  await log.clock.pass(5 * second);
  expect(all.map(({ seqs }) => seqs)).toEqual(all.map(() => log.seqs()));
});

test('when the follower whose hints all share stops, the next one subscribes', async () => {
  const log = new CountedLog();
  const all = followers(log, new LogTail());
  await log.clock.pass(5 * second);
  all[0]?.stop();
  await log.clock.pass(5 * second);
  expect(log.subscriptions).toBe(1);
  log.write();
  await log.clock.pass(10);
  expect(all.map(({ seqs }) => seqs)).toEqual(all.map((_, index) => (index === 0 ? [] : [1])));
  for (const each of all) each.stop();
  await log.clock.pass(second);
  expect(log.subscriptions).toBe(0);
});

test('erased commits are not handed out from memory (C9)', async () => {
  const log = new CountedLog();
  const tail = new LogTail();
  const [slow, quick] = [log.follow('slow', tail, 0), log.follow('quick', tail, 0)];
  quick.takeAll();
  log.write({ key: 1, kind: 'commit' });
  slow.take();
  await log.clock.pass(second);
  for (const key of [1, 2, 1]) log.write({ key, kind: 'commit' });
  log.write({ key: 1, kind: 'erasure' });
  await log.clock.pass(second);
  slow.takeAll();
  await log.clock.pass(second);
  expect(quick.seqs).toEqual([1, 2, 3, 4, 5]);
  expect(slow.seqs).toEqual([1, 3, 5]);
});
