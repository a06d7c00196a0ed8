import type { Config } from '../config/schema.ts';
import { identitiesOf } from '../keys/identity.ts';
import { buildKey, type SessionKey } from '../keys/session-key.ts';
import { placing } from './envelope-key.ts';

/** As many as one question has notices. */
const most = 5;

/**
 * The sessions in which the owner is told something: those of their direct chats, by the ids in `agent.owners`, or else the main
 * session. What is posted there goes to where the last answer went.
 */
export const ownersSessions = (config: Config): SessionKey[] => {
  const { agent, session } = config;
  const placeOf = placing(config, identitiesOf(session.identityLinks));
  const ids = agent.owners.flatMap((owner) => (owner.includes(':') ? [owner] : (session.identityLinks[owner] ?? [])));
  const keys = ids.flatMap((owner): SessionKey[] => {
    const [channel = ''] = owner.split(':', 1);
    const id = owner.slice(channel.length + 1);
    const conversation = { id, kind: 'direct' } as const;
    const place = placeOf({ id, channel, conversation, sender: { id }, text: '', mentioned: false, directed: true });
    return id === '' || 'problem' in place ? [] : [place.key];
  });
  const main = buildKey({ agentId: agent.id, kind: session.scope === 'global' ? 'global' : 'main' }, session.mainKey);
  const found = keys.length === 0 && 'key' in main ? [main.key] : keys;
  return [...new Set(found)].slice(0, most);
};
