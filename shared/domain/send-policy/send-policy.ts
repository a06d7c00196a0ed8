import type { Config } from '../config/schema.ts';
import { bareKey, chatTypeOf, type ParsedKey, parseKey, type SessionKey } from '../keys/session-key.ts';

type SendPolicy = Config['session']['sendPolicy'];
type Match = SendPolicy['rules'][number]['match'];

/** What a decision depends on. */
export interface Sending {
  readonly key: SessionKey;
  /** The channel of the outgoing message. Default: the one in the key. */
  readonly channel?: string | undefined;
  /** The session's own setting, if it applies (A9/96). */
  readonly override?: 'allow' | 'deny' | undefined;
}
/**
 * Whether a message may be sent, and the rule that decided: `override`, `session.sendPolicy.rules[2]` or
 * `session.sendPolicy.default`.
 */
export interface SendDecision {
  readonly action: 'allow' | 'deny';
  readonly rule: string;
}

/**
 * Applies the send policy (A9/91–99): the session's own setting, else a matching rule, else the default. Among matching rules one
 * that denies wins, wherever it stands: existing configurations from other systems assume this, and it is the safe reading.
 */
export const sendDecision = (policy: SendPolicy, { key, channel, override }: Sending): SendDecision => {
  if (override !== undefined) return { action: override, rule: 'override' };
  const parsed = parseKey(key);
  const matching = policy.rules.flatMap(({ action, match }, index) =>
    matches(match, key, parsed, channel ?? parsed.channel) ? [{ action, rule: `session.sendPolicy.rules[${index}]` }] : [],
  );
  const decisive = matching.find(({ action }) => action === 'deny') ?? matching[0];
  return decisive ?? { action: policy.default, rule: 'session.sendPolicy.default' };
};

/** All given fields must match. Channel names are compared ignoring case, keys byte by byte. */
const matches = (match: Match, key: SessionKey, parsed: ParsedKey, channel: string | undefined): boolean =>
  (match.channel === undefined || match.channel.toLowerCase() === channel?.toLowerCase()) &&
  (match.chatType === undefined || isOfType(match.chatType, parsed)) &&
  (match.keyPrefix === undefined || key.startsWith(match.keyPrefix) || bareKey(key).startsWith(match.keyPrefix)) &&
  (match.rawKeyPrefix === undefined || key.startsWith(match.rawKeyPrefix));

/** A thread in a group counts as both: a rule for the groups of a channel also covers their threads. */
const isOfType = (chatType: NonNullable<Match['chatType']>, parsed: ParsedKey): boolean =>
  chatTypeOf(parsed) === chatType || parsed.kind === chatType;
