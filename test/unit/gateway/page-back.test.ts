import { describe, expect, test } from 'vitest';
import { pageBack } from '../../../services/gateway/history/page-back.ts';
import type { Page } from '../../../services/gateway/history/page-forward.ts';
import type { Cursor } from '../../../services/gateway/http/cursor.ts';
import { parseCursor } from '../../../services/gateway/http/cursor.ts';
import { seededRandom } from '../../../shared/adapters/in-memory/faults.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';

/** Paging backwards over a log that can only be read forwards (B18). */

const keys = ['quiet', 'busy', 'rare'] as readonly string[] as readonly SessionKey[];

/** A log in which sessions write in bursts, with `eventsEach` events a commit. What is `gone` cannot be read any more. */
const logOf = (commits: readonly RecordedCommit[]) => {
  let reads = 0;
  const page: EventLog['page'] = async ({ after, limit, key }) => {
    reads += 1;
    const there = commits.filter((commit) => commit.seq > after && (key === undefined || commit.key === key));
    return { commits: there.slice(0, limit), more: there.length > limit };
  };
  return { events: { page } as EventLog, reads: () => reads };
};

const history = (seed: number, length: number): RecordedCommit[] => {
  const random = seededRandom(seed);
  const revs = new Map<SessionKey, number>();
  let key = keys[0] as SessionKey;
  return Array.from({ length }, (_, at) => {
    if (random() < 0.05) key = keys[Math.floor(random() ** 3 * keys.length)] as SessionKey;
    const rev = (revs.get(key) ?? 0) + 1;
    revs.set(key, rev);
    const events = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({ type: 'notice' }));
    return { key, seq: at + 1, rev, events, prev: undefined } as unknown as RecordedCommit;
  });
};

const eventsOf = (commit: RecordedCommit) =>
  commit.events.map((_, index) => ({ cursor: { seq: commit.seq, index }, item: `${commit.seq}.${index}` }));

const allBack = async (commits: readonly RecordedCommit[], key: SessionKey | undefined, limit: number, from = 0) => {
  const { events, reads } = logOf(commits);
  const own = commits.filter((commit) => key === undefined || commit.key === key);
  const last = key === undefined ? { seq: commits.length, rev: Number.POSITIVE_INFINITY } : (own.at(-1) ?? { seq: 0, rev: 0 });
  const all = own.flatMap(eventsOf).length;
  const items: string[] = [];
  const gaps: object[] = [];
  for (let before: Cursor | 'end' = 'end'; ; ) {
    const page = await pageBack(events, { before, limit, from, key, last }, eventsOf);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    expect(items.length, 'pages are repeated').toBeLessThanOrEqual(all);
    gaps.push(...page.gaps);
    if (!page.more) return { items, gaps, reads: reads() };
    const { seq, index } = parseCursor(page.next) as Cursor;
    before = { seq, index: Number.isFinite(index) ? index : 0 };
  }
};

describe('a page that is read backwards', () => {
  test.each([1, 2, 3, 4, 5, 6])('all pages together are the log from its end: seed %i', async (seed) => {
    const commits = history(seed, 700);
    for (const key of [undefined, ...keys])
      for (const limit of [1, 7, 100, 1_000]) {
        const whole = commits.filter((commit) => key === undefined || commit.key === key).flatMap(eventsOf);
        const { items, gaps } = await allBack(commits, key, limit);
        expect(items, `${key} by ${limit}`).toEqual(whole.map(({ item }) => item).toReversed());
        expect(gaps).toEqual([]);
      }
  });

  test('stops at what the caller may not see', async () => {
    const commits = history(7, 300);
    const { items } = await allBack(commits, undefined, 20, 250);
    expect(items.at(-1)).toBe('251.0');
  });

  test('a loss is told once, on the page of what follows it', async () => {
    const commits = history(8, 400).filter(({ key, rev }) => key !== keys[0] || rev < 10 || rev > 14);
    for (const limit of [1, 5, 50, 500]) {
      const { gaps } = await allBack(commits, keys[0], limit);
      expect(gaps, `by ${limit}`).toMatchObject([{ key: keys[0], reason: 'missing', fromRev: 10, toRev: 14 }]);
    }
  });

  test('the end of a session costs a few reads, however long the log and wherever the session is in it', async () => {
    const quiet = keys[0] as SessionKey;
    const busy = keys[1] as SessionKey;
    const filler = (count: number, after: number, rev: number, key: SessionKey) =>
      Array.from(
        { length: count },
        (_, at) => ({ key, seq: after + at + 1, rev: rev + at, events: [{ type: 'notice' }] }) as unknown as RecordedCommit,
      );
    const commits = [
      ...filler(2_000, 0, 1, quiet),
      ...filler(20_000, 2_000, 1, busy),
      ...filler(500, 22_000, 2_001, quiet),
      ...filler(9_000, 22_500, 20_001, busy),
    ];
    const { events, reads } = logOf(commits);
    const page = await pageBack(
      events,
      { before: 'end', limit: 50, from: 0, key: quiet, last: { seq: 22_500, rev: 2_500 } },
      eventsOf,
    );
    expect(page.items).toHaveLength(50);
    expect(page.items[0]).toBe('22500.0');
    expect(reads()).toBeLessThan(12);
    // In front of it nothing of the session for a long time.
    const before = reads();
    const next = await pageBack(
      events,
      { before: { seq: 22_010, index: 0 }, limit: 50, from: 0, key: quiet, last: { seq: 22_500, rev: 2_500 } },
      eventsOf,
    );
    expect(next.items.slice(8, 11)).toEqual(['22001.0', '2000.0', '1999.0']);
    expect(reads() - before).toBeLessThan(30);
  });

  test('a filter that nothing matches looks through 2,000 commits a call, and the next call goes on from there', async () => {
    const commits = history(9, 5_000);
    const { events } = logOf(commits);
    const looked: number[] = [];
    const found: number[] = [];
    for (let before: Cursor | 'end' = 'end', more = true; more; ) {
      let count = 0;
      const page: Page<number> = await pageBack(
        events,
        { before, limit: 10, from: 0, last: { seq: 5_000, rev: Number.POSITIVE_INFINITY } },
        ({ seq }) => {
          count += 1;
          return seq === 7 ? [{ cursor: { seq, index: 0 }, item: seq }] : [];
        },
      );
      looked.push(count);
      found.push(...page.items);
      more = page.more;
      before = { seq: (parseCursor(page.next) as Cursor).seq, index: 0 };
    }
    expect(looked).toEqual([2_000, 2_000, 1_000]);
    expect(found).toEqual([7]);
  });
});
