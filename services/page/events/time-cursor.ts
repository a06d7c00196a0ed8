import type { EventPage } from '../../../shared/client/main.ts';

/** A page of events of the log, without a filter by type. */
type ReadPage = (query: Readonly<Record<string, string | number>>) => Promise<EventPage>;

/** The first event after a sequence. */
const firstAfter = async (seq: number, read: ReadPage): Promise<EventPage['events'][number] | undefined> => {
  for (let after = `${seq}`; ; ) {
    const { events, more, next } = await read({ after, limit: 1 });
    if (events[0] !== undefined || !more) return events[0];
    after = next;
  }
};

/** The `before` of a page of the events before a time, ms. The gateway has no index by time: each question halves what is left of the log. */
export const cursorAt = async (time: number, read: ReadPage): Promise<string> => {
  const last = (await read({ before: 'end', limit: 1 })).events[0];
  let [before, from] = [0, last?.seq ?? 0];
  while (before < from) {
    const middle = Math.floor((before + from) / 2);
    const event = await firstAfter(middle, read);
    if (event !== undefined && event.at < time) before = event.seq;
    else from = middle;
  }
  return `${before + 1}`;
};
