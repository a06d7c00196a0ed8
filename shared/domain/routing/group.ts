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

type ChannelConfig = Config['channels'][string];

/** `channels.<channel>`, prepared for lookups. */
export interface ChannelRules {
  readonly ownerTriggers: boolean;
  /** `channels.<channel>.groups.<id>.requireMention` (A6/74). */
  requiresMention(conversation: InboundEnvelope['conversation']): boolean;
  /** Whether a message is let in (D8): yes, only once its sender is paired, or why not. */
  admits(sender: Sender, conversation: InboundEnvelope['conversation']): 'yes' | 'paired' | { readonly dropped: string };
}

/** The principals in an allow list of a channel: ids with or without `<channel>:` in front, and names of linked people. */
export const allowedOn = (
  channel: string,
  { allowFrom }: Pick<ChannelConfig, 'allowFrom'>,
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
 * The rules of a channel. The owner is admitted wherever somebody is, and a stranger who merely uses a linked person's name as an
 * id is not.
 */
export const channelRules = (channel: string, rules: ChannelConfig, identities: Identities): ChannelRules => {
  const { dmPolicy, groupPolicy, ownerTriggers } = rules;
  const allowing = (allowFrom: readonly string[]): ((sender: Sender) => boolean) => {
    const allowed = allowedOn(channel, { allowFrom: [...allowFrom] }, identities);
    return ({ role, principal }) => role === 'owner' || (principal !== undefined && allowed.has(principal));
  };
  const isKnown = allowing(rules.allowFrom);
  const groups = new Map(
    Object.entries(rules.groups).map(([id, { requireMention, allowFrom }]) => [
      id,
      { requireMention, mayWrite: allowFrom === undefined ? () => true : allowing(allowFrom) },
    ]),
  );
  const groupOf = (id: string) => groups.get(id) ?? groups.get('*');

  const inDirect = (sender: Sender): ReturnType<ChannelRules['admits']> => {
    const dropped = (why: string) => ({ dropped: `channels.${channel}.dmPolicy: ${why}` });
    if (dmPolicy === 'disabled') return dropped('direct messages are disabled');
    if (dmPolicy === 'open' || isKnown(sender)) return 'yes';
    return dmPolicy === 'pairing' ? 'paired' : dropped('only senders in allowFrom may write direct messages');
  };
  const inGroup = (sender: Sender, id: string): ReturnType<ChannelRules['admits']> => {
    const dropped = (name: string, why: string) => ({ dropped: `channels.${channel}.${name}: ${why}` });
    if (groupPolicy === 'disabled') return dropped('groupPolicy', 'groups are disabled');
    const group = groupOf(id);
    if (group === undefined) return groupPolicy === 'open' ? 'yes' : dropped('groups', `group ${id} is not in the list`);
    return group.mayWrite(sender) ? 'yes' : dropped('groups', `only senders in allowFrom may write in group ${id}`);
  };
  return {
    ownerTriggers,
    requiresMention: ({ id }) => groupOf(id)?.requireMention ?? true,
    admits: (sender, { kind, id }) => (kind === 'direct' ? inDirect(sender) : inGroup(sender, id)),
  };
};

/** The rules of a channel that the configuration does not mention. */
export const usualRules: ChannelRules = { ownerTriggers: true, requiresMention: () => true, admits: () => 'yes' };
