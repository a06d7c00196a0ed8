import type { Ports } from '../../../shared/ports/index.ts';

/** A point at which a host may die: it then never returns. */
export type Moment = () => Promise<void>;

/** The ports of a host with a moment before and after each durable write. */
export const doomedPorts =
  (moment: Moment) =>
  (ports: Ports): Ports => {
    const { events } = ports;
    const bound = {
      last: events.last.bind(events),
      newest: events.newest.bind(events),
      count: events.count.bind(events),
      read: events.read.bind(events),
      page: events.page.bind(events),
      raw: events.raw.bind(events),
    };
    return {
      ...ports,
      events: {
        ...{ ...bound, follow: events.follow.bind(events), info: events.info.bind(events), view: events.view.bind(events) },
        append: async (commit, expectedSeq) => {
          await moment();
          const result = await events.append(commit, expectedSeq);
          await moment();
          return result;
        },
      },
    };
  };
