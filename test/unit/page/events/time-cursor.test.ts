import { expect, test } from 'vitest';
import { cursorAt } from '../../../../services/page/events/time-cursor.ts';
import type { EventPage } from '../../../../shared/client/main.ts';

/** A log whose events have these times, one a commit, of which the reader may see those of even sequences. */
const logOf = (...times: readonly number[]) => {
  const events = times.flatMap((at, index) => ((index + 1) % 2 === 0 ? [{ seq: index + 1, at }] : []));
  // A page looks at two sequences at a time, as the gateway looks at a part of the log.
  return async ({ after, before }: Readonly<Record<string, string | number>>): Promise<EventPage> => {
    if (before === 'end') return { events: events.slice(-1) } as unknown as EventPage;
    const from = Number(after);
    const found = events.filter(({ seq }) => seq > from && seq <= from + 2).slice(0, 1);
    const next = found[0]?.seq ?? from + 2;
    return { events: found, next: `${next}`, more: next < times.length } as unknown as EventPage;
  };
};

test.each([
  ['before all', 5, 1],
  ['at the time of an event, which is not before it', 20, 1],
  ['right after it', 21, 3],
  ['between two', 45, 5],
  ['at the last', 60, 5],
  ['after all', 99, 7],
])('the page before a time ends there: %s', async (_, time, before) => {
  expect(await cursorAt(time, logOf(10, 20, 30, 40, 50, 60))).toBe(`${before}`);
});

test('an empty log has nothing before any time', async () => {
  expect(await cursorAt(5, logOf())).toBe('1');
});
