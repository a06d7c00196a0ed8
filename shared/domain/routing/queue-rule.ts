import type { Config } from '../config/schema.ts';
import type { QueueRule } from '../values/types.ts';

/** What a message that comes by `channel` does when it finds a turn running, as the configuration has it (B6). */
export const queueRuleOf = ({ queue }: Config['session'], channel?: string): QueueRule => {
  const { byChannel, ...usual } = queue;
  const own = channel !== undefined && Object.hasOwn(byChannel, channel) ? byChannel[channel] : {};
  const { mode, limit, debounceMs } = { ...usual, ...own };
  return debounceMs === 0 ? { mode, limit } : { mode, limit, debounceMs };
};
