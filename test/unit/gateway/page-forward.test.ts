import { expect, test } from 'vitest';
import { pageForward } from '../../../services/gateway/history/page-forward.ts';
import { afterCommit, parseCursor } from '../../../services/gateway/http/cursor.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';

/** Paging forwards over the log of a session: how often the broker is asked, and how much one answer has. */

const key = 'agent:main:main' as SessionKey;
const events = [{ type: 'notice' }];
const commits = Array.from(
  { length: 2_500 },
  (_, at) => ({ key, seq: at + 1, rev: at + 1, events }) as unknown as RecordedCommit,
);

/** A log whose reads have at most so many commits, as where larger ones, or others than commits, fill a read. */
const logOf = (most = Number.POSITIVE_INFINITY) => {
  let reads = 0;
  const page: EventLog['page'] = async ({ after, limit }) => {
    reads += 1;
    const there = commits.filter(({ seq }) => seq > after);
    const length = Math.min(limit, most);
    return { commits: there.slice(0, length), more: there.length > length };
  };
  return { events: { page, last: async () => null } as unknown as EventLog, reads: () => reads };
};

/** The sizes of all pages until there is no more. */
const sizesOf = async ({ events }: ReturnType<typeof logOf>, limit: number): Promise<number[]> => {
  const [sizes, seen]: [number[], number[]] = [[], []];
  for (let after = afterCommit(0), more = true; more; ) {
    const from = after.seq;
    const page = await pageForward(events, { after, limit, from, key }, ({ seq }) => [{ cursor: afterCommit(seq), item: seq }]);
    sizes.push(page.items.length);
    seen.push(...page.items);
    after = parseCursor(page.next) ?? after;
    more = page.more;
  }
  expect(seen).toEqual(commits.map(({ seq }) => seq));
  return sizes;
};

test('a page is one read of the log, however many rows are asked for', async () => {
  const log = logOf();
  expect(await sizesOf(log, 1_000)).toEqual([1_000, 1_000, 500]);
  expect(log.reads()).toBe(3);
});

test('a page is full also where the log gives fewer at once, as where what is no commit is among them', async () => {
  const log = logOf(600);
  expect(await sizesOf(log, 1_000)).toEqual([1_000, 1_000, 500]);
});
