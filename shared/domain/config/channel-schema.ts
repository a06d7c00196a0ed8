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

/** How the messages of a channel come: as envelopes that a program posts with its token, or by a connector that is part of Natter. */
export type ConnectorKind = 'posted' | 'built-in';

/** Who may write where the configuration of a channel does not say it (D8). */
const openness = {
  posted: { dmPolicy: 'open', groupPolicy: 'open' },
  'built-in': { dmPolicy: 'pairing', groupPolicy: 'allowlist' },
} as const satisfies Record<ConnectorKind, object>;

const groupRules = z.strictObject({
  /** `false`: every message starts a turn, and none has to mention the agent (A6/74). */
  requireMention: z.boolean().default(true),
  /** Whose messages count, besides the owner's. Default: everybody's. */
  allowFrom: z.array(z.string().min(1)).optional(),
});

/** The settings of a channel (D8). */
export const channelConfig = (kind: ConnectorKind) =>
  z.strictObject({
    /** Who may write direct messages, besides the owner: those who were paired or are in `allowFrom`, these alone, all, or nobody. */
    dmPolicy: z.enum(['pairing', 'allowlist', 'open', 'disabled']).default(openness[kind].dmPolicy),
    allowFrom: z.array(z.string().min(1)).default([]),
    /** Which groups count: all, those in `groups`, or none. */
    groupPolicy: z.enum(['open', 'allowlist', 'disabled']).default(openness[kind].groupPolicy),
    /** The rules of a group by its id, as the platform says it; `*`: of all others. */
    groups: z.record(z.string().min(1), groupRules).default({}),
    /** Whether the owner's messages in a group always trigger a turn (A6/73, C19). */
    ownerTriggers: z.boolean().default(true),
  });
