import type { Config } from '../config/schema.ts';
import type { QueueRule } from '../values/types.ts';

/** The configured rule for a message that arrives on `channel` while a turn runs (B6). */
export const queueRuleOf = ({ queue }: Config['session'], channel?: string): QueueRule => {
  const { byChannel, ...usual } = queue;
  const own = channel !== undefined && Object.hasOwn(byChannel, channel) ? byChannel[channel] : {};
  const { mode, limit, debounceMs } = { ...usual, ...own };
  return debounceMs === 0 ? { mode, limit } : { mode, limit, debounceMs };
};
