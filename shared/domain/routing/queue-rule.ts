import type { Config } from '../config/schema.ts';
import { channelNameOf } from '../values/channel-name.ts';
import type { QueueRule } from '../values/types.ts';

/** The configured rule for a message that arrives on `channel` while a turn runs (B6). */
export const queueRuleOf = ({ queue }: Config['session'], given = ''): QueueRule => {
  const channel = channelNameOf(given);
  const { byChannel, ...usual } = queue;
  const own = Object.hasOwn(byChannel, channel) ? byChannel[channel] : {};
  const { mode, limit, debounceMs } = { ...usual, ...own };
  return debounceMs === 0 ? { mode, limit } : { mode, limit, debounceMs };
};
