import { z } from 'zod';
import { channelNameOf } from '../values/channel-name.ts';

/** Names of channels in the configuration: neither case nor blanks around them matter (D11). */

export const channelName = z.string().overwrite(channelNameOf);

/**
 * A person, as `<channel>:<id>` or a linked name, or the beginning of keys, as `<channel>:group`. What follows the channel is
 * byte-exact. A first segment that no channel could be named is part of an id, as in Matrix ids (`@ann:example.org`).
 */
export const withChannelName = z
  .string()
  .min(1)
  .overwrite((text) => {
    const [first = '', ...rest] = text.trim().split(':');
    const name = channelNameOf(first);
    return rest.length > 0 && /^[a-z][a-z0-9_-]{0,31}$/.test(name) ? `${name}:${rest.join(':').trim()}` : text.trim();
  });

/** For settings by channel: refuses a channel that is named twice, and a name that no channel can have. */
export const checkChannels = (settings: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
  const known = new Map<string, string>();
  for (const given of Object.keys(settings)) {
    const name = channelNameOf(given);
    const other = known.get(name);
    known.set(name, given);
    const problem =
      other !== undefined
        ? `is ${JSON.stringify(other)} once more; keep one of them`
        : 'has a blank in it, and no channel has; write it as the connector does';
    if (other === undefined && !/\s/.test(name)) continue;
    context.addIssue({ code: 'custom', path: [given], message: `${JSON.stringify(given)} ${problem}` });
  }
};

export const byChannelName = <T>(settings: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [channelNameOf(name), value]));
