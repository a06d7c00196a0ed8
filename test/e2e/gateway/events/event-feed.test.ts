import { pino } from 'pino';
import { expect, test } from 'vitest';
import { EventFeed } from '../../../../services/gateway/context/event-feed.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { EventLog } from '../../../../shared/ports/event-log.ts';
import { afterwards, openBroker } from '../setup.ts';

/** Appends commits to keys in turn; the feed does not care what they say. */
const writerOf = (events: EventLog) => {
  const last = new Map<string, { rev: number; seq: number }>();
  return async (key: string): Promise<number> => {
    const { rev, seq } = last.get(key) ?? { rev: 0, seq: 0 };
    const id = `${key}-${rev + 1}`;
    const commit = {
      ...{ v: 1 as const, id, key: key as SessionKey, rev: rev + 1, sessionId: 's', epoch: 0, at: 1 },
      ...{ correlationId: id, causationId: id, actor: 'test', command: { id, seq: null, incarnation: null } },
      events: [{ type: 'session_reopened', v: 1 }],
    } as const;
    const result = await events.append(commit, seq);
    if (result.kind !== 'stored') throw new Error(result.kind);
    last.set(key, { rev: rev + 1, seq: result.seq });
    return result.seq;
  };
};

test('a reader that falls far behind what the feed remembers gets the rest from the log, each commit once and in order', async () => {
  const { events } = openBroker();
  const write = writerOf(events);
  const feed = new EventFeed(events, systemClock, pino({ level: 'silent' }));
  afterwards(() => feed.close());
  while (feed.problems().length > 0) await systemClock.sleep(1);
  const { signal } = new AbortController();
  const mine = 'a:mine' as SessionKey;
  const all = feed.follow({ after: 0, signal });
  const one = feed.follow({ after: 0, key: mine, signal });

  const written: number[] = [];
  const writtenByMe: number[] = [];
  const writeSome = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const isMine = n % 100 === 50;
      const seq = await write(isMine ? mine : `a:other${n % 3}`);
      written.push(seq);
      if (isMine) writtenByMe.push(seq);
    }
  };
  const seen: number[] = [];
  const seenOfMine: number[] = [];
  const take = async (from: typeof all, into: number[], upTo: number) => {
    while (into.at(-1) !== upTo) into.push((await from.next()).value?.seq ?? 0);
  };

  await writeSome(60);
  await take(all, seen, written[9]!);
  await take(one, seenOfMine, writtenByMe[0]!);
  const idle = one.next();
  await writeSome(limits.feedCommits + 300);
  seenOfMine.push((await idle).value?.seq ?? 0);
  await take(all, seen, written.at(-1)!);
  await take(one, seenOfMine, writtenByMe.at(-1)!);
  await writeSome(60);
  await take(all, seen, written.at(-1)!);
  await take(one, seenOfMine, writtenByMe.at(-1)!);
  expect(seen).toEqual(written);
  expect(seenOfMine).toEqual(writtenByMe);
});

test('a reader that begins just before, at or just behind the oldest commit that the feed remembers misses none', async () => {
  const { events } = openBroker();
  const write = writerOf(events);
  const feed = new EventFeed(events, systemClock, pino({ level: 'silent' }));
  afterwards(() => feed.close());
  while (feed.problems().length > 0) await systemClock.sleep(1);
  // The feed forgets three of these.
  const written: number[] = [];
  for (let n = 0; n < limits.feedCommits + 3; n++) written.push(await write(`a:${n % 3}`));
  await expect.poll(() => feed.position).toBe(written.at(-1));
  for (const [at, after] of [0, ...written.slice(0, 6)].entries()) {
    const reader = feed.follow({ after, signal: new AbortController().signal });
    const first = [(await reader.next()).value?.seq, (await reader.next()).value?.seq];
    await reader.return();
    expect(first).toEqual(written.slice(at, at + 2));
  }
});

test('readers end when the feed closes', async () => {
  const feed = new EventFeed(openBroker().events, systemClock, pino({ level: 'silent' }));
  while (feed.problems().length > 0) await systemClock.sleep(1);
  const next = feed.follow({ after: 0, signal: new AbortController().signal }).next();
  await feed.close();
  expect(await next).toEqual({ done: true, value: undefined });
});
