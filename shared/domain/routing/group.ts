import type { Config } from '../config/schema.ts';
import type { Identities } from '../keys/identity.ts';
import type { Sender } from '../values/types.ts';
import type { InboundEnvelope } from './inbound-envelope.ts';

/** Who may make the agent speak, and when: A6/72–76, C19. The rules are the same for every channel. */

/** What becomes of a message: `post` asks for a turn, `append` only remembers it. */
export interface GroupRuling {
  readonly verdict: 'post' | 'append';
  /** The text as the session stores it. */
  readonly text: string;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Tells whether one of the agent's names stands in a text as a word of its own, whatever its case. */
export const nameFinder = (names: readonly string[]): ((text: string) => boolean) => {
  const words = names.filter((name) => name !== '').map(escaped);
  if (words.length === 0) return () => false;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join('|')})(?![\\p{L}\\p{N}_])`, 'iu');
  return (text) => pattern.test(text);
};

/** Stands before what the owner says to others, so that the model can choose whether to reply (A6/76, 77). */
export const ownerAside =
  '[The owner wrote this to the group and not to you. Answer only if it helps; otherwise answer <NO_REPLY>.]\n';

/** The ruling on a message. Direct messages always ask for a turn. `ownerTriggers` is the channel's switch for the owner rule (C19). */
export const ruleOn = (
  { conversation, text }: Pick<InboundEnvelope, 'conversation' | 'text'>,
  given: { readonly addressed: boolean; readonly role: Sender['role']; readonly ownerTriggers: boolean },
): GroupRuling => {
  if (conversation.kind === 'direct' || given.addressed) return { verdict: 'post', text };
  return given.role === 'owner' && given.ownerTriggers
    ? { verdict: 'post', text: ownerAside + text }
    : { verdict: 'append', text };
};

/** What `channels.<channel>` says, ready for looking up. */
export interface ChannelRules {
  readonly ownerTriggers: boolean;
  /** Whether a direct message of this sender is let in. The owner's always is. */
  admits(sender: Sender): boolean;
}

/** Whom `allowFrom` of a channel names: ids with or without `<channel>:` in front, and linked people by name. */
export const allowedOn = (
  channel: string,
  { allowFrom }: Pick<Config['channels'][string], 'allowFrom'>,
  identities: Identities,
): ReadonlySet<string> => {
  const isComplete = (entry: string): boolean => entry.startsWith(`${channel}:`) || identities.isName(entry);
  return new Set(allowFrom.map((entry) => identities.resolve(isComplete(entry) ? entry : `${channel}:${entry}`)));
};

/**
 * The rules of a channel. With `dmPolicy: allowlist` a direct message is let in from those of `allowFrom`; a stranger who only
 * calls himself by the name of a linked person is not let in.
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

/** The rules of a channel that the configuration does not name. */
export const usualRules: ChannelRules = { ownerTriggers: true, admits: () => true };
