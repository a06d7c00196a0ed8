import type { Config } from '../config/schema.ts';
import type { Identities } from '../keys/identity.ts';
import { channelNameOf } from '../values/channel-name.ts';
import type { Sender } from '../values/types.ts';
import type { InboundEnvelope } from './inbound-envelope.ts';

/** Who may make the agent speak, and when (A6/72–76, C19). The rules are the same for every channel. */

/** What happens to a message: `post` starts a turn, `append` only remembers it. */
export interface GroupDecision {
  readonly verdict: 'post' | 'append';
  /** The owner speaks to others: the model decides whether to reply (A6/76). */
  readonly aside?: 'owner';
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Returns a function that tells whether a text contains one of the agent's names as a whole word, ignoring case. */
export const nameFinder = (names: readonly string[]): ((text: string) => boolean) => {
  const words = names.filter((name) => name !== '').map(escaped);
  if (words.length === 0) return () => false;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join('|')})(?![\\p{L}\\p{N}_])`, 'iu');
  return (text) => pattern.test(text);
};

/**
 * Decides about a message. Direct messages always start a turn. `ownerTriggers` is the channel's setting of the owner rule (C19).
 */
export const groupDecision = (
  { conversation }: Pick<InboundEnvelope, 'conversation'>,
  given: { readonly addressed: boolean; readonly role: Sender['role']; readonly ownerTriggers: boolean },
): GroupDecision => {
  if (conversation.kind === 'direct' || given.addressed) return { verdict: 'post' };
  return given.role === 'owner' && given.ownerTriggers ? { verdict: 'post', aside: 'owner' } : { verdict: 'append' };
};

/** `channels.<channel>`, prepared for lookups. */
export interface ChannelRules {
  readonly ownerTriggers: boolean;
  /** Whether a direct message from this sender is admitted. The owner always is. */
  admits(sender: Sender): boolean;
}

/** The principals in a channel's `allowFrom`: ids with or without `<channel>:` in front, and names of linked people. */
export const allowedOn = (
  channel: string,
  { allowFrom }: Pick<Config['channels'][string], 'allowFrom'>,
  identities: Identities,
): ReadonlySet<string> => {
  const completed = (text: string): string => {
    const entry = text.trim();
    if (identities.isName(entry)) return entry;
    const [first = '', ...rest] = entry.split(':');
    return rest.length > 0 && channelNameOf(first) === channel ? `${channel}:${rest.join(':').trim()}` : `${channel}:${entry}`;
  };
  return new Set(allowFrom.map((entry) => identities.resolve(completed(entry))));
};

/**
 * The rules of a channel. With `dmPolicy: allowlist`, only senders in `allowFrom` may write direct messages. A stranger who
 * merely uses a linked person's name as an id is not admitted.
 */
export const channelRules = (
  channel: string,
  { dmPolicy, allowFrom, ownerTriggers }: Config['channels'][string],
  identities: Identities,
): ChannelRules => {
  const allowed = allowedOn(channel, { allowFrom }, identities);
  const isAllowed = ({ principal }: Sender): boolean => principal !== undefined && allowed.has(principal);
  return { ownerTriggers, admits: (sender) => dmPolicy === 'open' || sender.role === 'owner' || isAllowed(sender) };
};

/** The rules of a channel that the configuration does not mention. */
export const usualRules: ChannelRules = { ownerTriggers: true, admits: () => true };
