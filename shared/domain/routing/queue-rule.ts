import type { Config } from '../config/schema.ts';
import { channelNameOf } from '../values/channel-name.ts';
import type { QueueRule } from '../values/queue-rule.ts';

/** The configured rule for a message that arrives on `channel` while a turn runs (B6). */
export const queueRuleOf = ({ queue }: Config['session'], given = ''): QueueRule => {
  const channel = channelNameOf(given);
  const { byChannel, ...usual } = queue;
  const own = Object.hasOwn(byChannel, channel) ? byChannel[channel] : {};
  const { mode, limit, debounceMs } = { ...usual, ...own };
  return debounceMs === 0 ? { mode, limit } : { mode, limit, debounceMs };
};

/** The same, computed once for each channel. `isShared`: the sender shares the queue with others (D7). */
export const queueRulesOf = (session: Config['session']): ((channel: string, isShared: boolean) => QueueRule) => {
  const both = (queue: QueueRule) => ({ own: queue, shared: { ...queue, shared: true as const } });
  const usual = both(queueRuleOf(session));
  const rules = new Map(Object.keys(session.queue.byChannel).map((channel) => [channel, both(queueRuleOf(session, channel))]));
  return (channel, isShared) => {
    const { own, shared } = rules.get(channel) ?? usual;
    return isShared ? shared : own;
  };
};
