import { expect, test, vi } from 'vitest';
import { EventFeed } from '../../../../services/gateway/context/event-feed.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { createLog } from '../../../../shared/kit/log.ts';
import { afterwards } from '../../../support/afterwards.ts';
import { commitTo, freshKey } from '../../../support/domain/commits.ts';

/** A feed, and what it logs. Its log fails with `state.trouble` while there is one; its pauses are short. */
const openFeed = async () => {
  const system = openInMemory({ clock: systemClock });
  const { events } = system.portsFor('gateway');
  const state = { trouble: null as string | null, reads: 0 };
  const follow = events.follow.bind(events);
  vi.spyOn(events, 'follow').mockImplementation(async function* (options) {
    state.reads += 1;
    for await (const commit of follow(options)) {
      if (state.trouble !== null) throw new NatterError('unavailable', state.trouble);
      yield commit;
    }
  });
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal) };
  const feed = new EventFeed(events, clock, createLog({ level: 'debug', name: 'test', destination }));
  afterwards(() => feed.close());
  await vi.waitFor(() => expect(feed.problems()).toEqual([]));
  return { events, kept: system.events.kept, state, lines, feed };
};

test('an interruption is logged once however often it is tried again, another reason and the next interruption anew', async () => {
  const { events, state, lines, feed } = await openFeed();
  const tries = async (trouble: string): Promise<void> => {
    state.trouble = trouble;
    const before = state.reads;
    await vi.waitFor(() => expect(state.reads).toBeGreaterThan(before + 3));
  };
  const told = () => lines.map(({ level, msg, err }) => [level, msg, (err as { message: string }).message]);
  const line = (trouble: string) => ['warn', 'event feed interrupted; it will be taken up again', trouble];
  // The first commit shows what the log has come to.
  await events.append(commitTo(freshKey()), 0);
  await vi.waitFor(() => expect(feed.position).toBe(1));
  expect(lines).toEqual([]);

  state.trouble = 'away';
  await events.append(commitTo(freshKey()), 0);
  await tries('away');
  expect(told()).toEqual([line('away')]);
  await tries('another reason');
  expect(told()).toEqual([line('away'), line('another reason')]);

  state.trouble = null;
  await vi.waitFor(() => expect(feed.position).toBe(2));
  expect(feed.problems()).toEqual([]);
  state.trouble = 'another reason';
  await events.append(commitTo(freshKey()), 0);
  await tries('another reason');
  expect(told()).toEqual([line('away'), line('another reason'), line('another reason')]);
});

test('F13: a gap in a session is counted and told to who reads the commit behind it, and the feed goes on without a line', async () => {
  const { events, kept, lines, feed } = await openFeed();
  const key = freshKey();
  const commits = [1, 2, 3].map((rev) => commitTo(key, { rev }));
  kept.spoil(2);
  for (const [at, commit] of commits.entries()) await events.append(commit, at === 2 ? 0 : at);
  await vi.waitFor(() => expect(feed.position).toBe(3));
  expect(feed.damaged).toBe(1);
  const [first, behind] = await Promise.all(
    [1, 3].map(async (seq) => {
      for await (const commit of feed.follow({ after: seq - 1, key, signal: AbortSignal.timeout(10_000) })) return commit;
      throw new Error('it ended');
    }),
  );
  expect(first && feed.gapBefore(first)).toBeNull();
  expect(behind && feed.gapBefore(behind)).toMatchObject({ reason: 'missing', fromRev: 2, toRev: 2 });
  expect(lines).toEqual([]);
  expect(feed.problems()).toEqual([]);
});
