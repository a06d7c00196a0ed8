import type { Config } from '../config/schema.ts';
import type { Identities } from '../keys/identity.ts';
import { canonicalKey } from '../keys/legacy-key.ts';
import { buildKey, isProgramSource, type ParsedKey, parseKey, type SessionKey } from '../keys/session-key.ts';
import type { InboundEnvelope } from './inbound-envelope.ts';

/** Finds the session that an envelope belongs to (A3/20–41). */

/** The session key, as text and parsed. */
export interface ConversationKey {
  readonly key: SessionKey;
  readonly parsed: ParsedKey;
}
/** `problem` names the field. `isMendable`: the owner can mend it in the configuration, so that the same envelope has a session then. */
export type ConversationKeyOrProblem = ConversationKey | { readonly problem: string; readonly isMendable?: true };

/** Sources that may choose the session themselves (A3/38–39, C16). */
const choosing: ReadonlySet<string> = new Set(['hook', 'node']);

/**
 * Returns the function that finds the session of an envelope under this configuration.
 *
 * - Jobs, hooks, nodes, the command line, web devices and schedules have sessions of their own, whatever the scope.
 * - With `session.scope: global` everything else goes to `agent:<agentId>:global`, which callers see as `main` (A3/22, 40).
 * - Each group and channel has its own (A3/32–34); direct chats follow `session.dmScope` (A3/24–28).
 */
export const placing = (
  { agent, session }: Config,
  identities: Identities,
): ((envelope: InboundEnvelope) => ConversationKeyOrProblem) => {
  const { mainKey, scope, dmScope } = session;
  const refusesOthers = session.strict && dmScope === 'per-peer';
  const owners = new Set(agent.owners);
  const ownersIds = new Set(agent.owners.map((owner) => owner.slice(owner.indexOf(':') + 1)));

  const placed = (parsed: ParsedKey, field: string): ConversationKeyOrProblem => {
    const built = buildKey(parsed, mainKey);
    return 'key' in built ? { key: built.key, parsed } : { problem: `${field}: ${built.problem}` };
  };

  const chosen = (text: string, agentId: string, provider?: string): ConversationKeyOrProblem => {
    const found = canonicalKey(text, { agentId, mainKey, scope, provider });
    return 'key' in found
      ? { key: found.key, parsed: parseKey(found.key, mainKey) }
      : { problem: `sessionKey: ${found.problem}` };
  };

  /** An older form of a group key: accepted only for a group on this very channel. */
  const legacy = (
    text: string,
    { channel, conversation: { threadId } }: InboundEnvelope,
    agentId: string,
  ): ConversationKeyOrProblem => {
    const place = chosen(text, agentId, channel);
    if ('problem' in place) return place;
    const { parsed } = place;
    const isOwn =
      (parsed.kind === 'group' || parsed.kind === 'channel') && parsed.channel === channel && parsed.agentId === agentId;
    if (!isOwn)
      return { problem: `sessionKey: only hooks and nodes may choose a session; a message of ${channel} may say group:<id>` };
    return parsed.threadId === undefined && threadId !== undefined ? placed({ ...parsed, threadId }, 'sessionKey') : place;
  };

  const direct = ({ channel, accountId = 'default', sender }: InboundEnvelope, agentId: string): ConversationKeyOrProblem => {
    if (dmScope === 'main') return placed({ agentId, kind: 'main' }, 'session.mainKey');
    const name = identities.nameOf(channel, sender.id);
    if (name === undefined && identities.isName(sender.id)) {
      const link = `${channel}:${sender.id}`;
      return {
        problem: `sender.id: ${JSON.stringify(sender.id)} is the name of another person; add ${JSON.stringify(link)} to session.identityLinks if it is the same`,
        isMendable: true,
      };
    }
    if (refusesOthers && name === undefined && ownersIds.has(sender.id) && !owners.has(`${channel}:${sender.id}`)) {
      const fix = `add ${JSON.stringify(`${channel}:${sender.id}`)} to agent.owners if it is theirs too, or set session.dmScope to "per-channel-peer"`;
      return { problem: `sender.id: ${JSON.stringify(sender.id)} is an owner's id on another channel; ${fix}`, isMendable: true };
    }
    const peer = { agentId, kind: 'dm', id: name ?? sender.id } as const;
    switch (dmScope) {
      case 'per-peer':
        return placed(peer, 'sender.id');
      case 'per-channel-peer':
        return placed({ ...peer, channel }, 'sender.id');
      case 'per-account-channel-peer':
        return placed({ ...peer, channel, accountId }, 'sender.id');
    }
  };

  return (envelope) => {
    const { channel, conversation, sessionKey } = envelope;
    const { kind, id, threadId } = conversation;
    const agentId = envelope.agentId ?? agent.id;
    if (sessionKey !== undefined && choosing.has(channel)) return chosen(sessionKey, agentId);
    if (isProgramSource(channel)) {
      return kind === 'direct'
        ? placed({ agentId, kind: channel, id }, 'conversation.id')
        : { problem: `conversation.kind: the source ${channel} has no groups; use "direct"` };
    }
    if (scope === 'global') return placed({ agentId, kind: 'global' }, 'session.scope');
    if (sessionKey !== undefined) return legacy(sessionKey, envelope, agentId);
    if (kind === 'direct') return direct(envelope, agentId);
    return placed({ agentId, kind, channel, id, ...(threadId !== undefined && { threadId }) }, 'conversation.id');
  };
};
