import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';

/** Ports that hear of what is recorded late: of the first commit that `holds`, and of all that follow it, once it is `letGo`. */
export const heldFeed = (ports: Ports, holds: (commit: RecordedCommit) => boolean): { ports: Ports; letGo: () => void } => {
  const { events } = ports;
  const held = new AbortController();
  const gone = new Promise((resolve) => held.signal.addEventListener('abort', resolve));
  const follow: EventLog['follow'] = async function* (options) {
    for await (const commit of events.follow(options)) {
      if (holds(commit)) await gone;
      yield commit;
    }
  };
  const behind: EventLog = {
    append: (...given) => events.append(...given),
    last: (key) => events.last(key),
    newest: (headline) => events.newest(headline),
    count: (key) => events.count(key),
    read: (...given) => events.read(...given),
    page: (options) => events.page(options),
    raw: (options) => events.raw(options),
    info: () => events.info(),
    view: (seq) => events.view(seq),
    follow,
  };
  return { ports: { ...ports, events: behind }, letGo: () => held.abort() };
};
