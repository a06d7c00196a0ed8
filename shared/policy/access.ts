import type { Config } from '../config/schema.ts';
import { placing } from '../routing/envelope-key.ts';
import type { Identities, IdentityLinks } from '../routing/identity.ts';
import { bareKey, parseKey, type SessionKey } from '../routing/session-key.ts';
import type { InboundEnvelope } from '../wire/envelope.ts';

/** Who may see which session (A5/67, A8/89–90, C14). There is no other rule anywhere: whoever asks, asks here. */

/**
 * On whose behalf a call is made. `principal` is a person: a name of `session.identityLinks` or `<channel>:<id>`. `namespace` is the
 * beginning of the keys a channel's token is limited to, without `agent:<agentId>:`, such as `telegram`.
 */
export type Principal =
  | { readonly role: 'owner' }
  | { readonly role: 'participant'; readonly principal: string }
  | { readonly role: 'channel'; readonly namespace: string; readonly principal?: string };

/** What access depends on. `participants` are principals as they were recorded; they are resolved anew here, so that merges count (A5/66). */
export interface Guarded {
  readonly key: SessionKey;
  readonly participants: readonly string[];
}

/** The owner sees all; others the sessions they take part in; a channel's token nothing outside its namespace. */
export const canAccess = (asking: Principal, { key, participants }: Guarded, { resolve }: Identities): boolean => {
  const takesPart = (principal: string): boolean => {
    const person = resolve(principal);
    return participants.some((stored) => resolve(stored) === person);
  };
  switch (asking.role) {
    case 'owner':
      return true;
    case 'participant':
      return takesPart(asking.principal);
    case 'channel':
      return isWithin(asking.namespace, key) && (asking.principal === undefined || takesPart(asking.principal));
  }
};

/** Whole segments only: `telegram` has `agent:main:telegram:dm:7`, never `agent:main:telegramx:dm:7` nor a main session named `telegram`. */
export const isWithin = (namespace: string, key: SessionKey): boolean => bareKey(key).startsWith(`${namespace}:`);

/**
 * True when a direct message of the principal would go to this key and nobody else's would (A3/26–28): the session others than the owner
 * may begin (A5/67). The main session is shared, so it is nobody's own.
 */
export const ownsKey = (asking: Principal, key: SessionKey, config: Config, identities: Identities): boolean => {
  const person = asking.role === 'owner' ? undefined : asking.principal;
  const { kind, channel, accountId } = parseKey(key, config.session.mainKey);
  if (person === undefined || kind !== 'dm' || (asking.role === 'channel' && !isWithin(asking.namespace, key))) return false;
  const place = placing(config, identities);
  return addressesOf(person, config.session.identityLinks, channel).some((address) => {
    const placed = place({ ...direct, ...(accountId !== undefined && { accountId }), ...address });
    return 'key' in placed && placed.key === key;
  });
};

/** A direct message, as far as its place depends on it. */
const direct = {
  id: 'any',
  kind: 'message',
  conversation: { id: 'any', kind: 'direct' },
  text: '',
  mentioned: false,
  directed: false,
} as const;

/** The ids a person writes from; one without a channel is theirs on `anyChannel`. */
const addressesOf = (person: string, links: IdentityLinks, anyChannel = ''): Pick<InboundEnvelope, 'channel' | 'sender'>[] =>
  (Object.hasOwn(links, person) ? (links[person] ?? []) : [person]).map((address) => {
    const colon = address.indexOf(':');
    return { channel: colon === -1 ? anyChannel : address.slice(0, colon), sender: { id: address.slice(colon + 1) } };
  });

/** The channel a namespace belongs to. */
export const channelOfNamespace = (namespace: string): string => namespace.split(':', 1)[0] ?? namespace;

type Token = Config['gateway']['tokens'][string];
/** The principal a configured token stands for, or the field that is wrong with it and how to mend it. */
export type Grant = { readonly principal: Principal } | { readonly field: 'principal' | 'namespace'; readonly problem: string };

export const grantOf = ({ role, principal, namespace }: Token, links: IdentityLinks): Grant => {
  if (principal !== undefined && !principal.includes(':') && !Object.hasOwn(links, principal)) {
    const problem = `"${principal}" is nobody known; use "<channel>:<id>" or a name of session.identityLinks`;
    return { field: 'principal', problem };
  }
  switch (role) {
    case 'owner':
      if (principal !== undefined)
        return { field: 'principal', problem: 'the owner sees all; remove it, or use role "participant"' };
      if (namespace !== undefined) return { field: 'namespace', problem: 'the owner sees all; remove it, or use role "channel"' };
      return { principal: { role } };
    case 'participant':
      if (namespace !== undefined)
        return { field: 'namespace', problem: 'belongs to role "channel"; remove it, or use that role' };
      if (principal === undefined) {
        return { field: 'principal', problem: 'is missing; a participant is somebody: use "<channel>:<id>" or a linked name' };
      }
      return { principal: { role, principal } };
    case 'channel':
      if (namespace === undefined) return { field: 'namespace', problem: 'is missing; name the channel, such as "telegram"' };
      if (!/^[a-z][a-z0-9_-]{0,31}(:[^\s:*>%]+)*$/.test(namespace)) {
        const problem = `"${namespace}" begins no session key; use a channel's name, such as "telegram", with further segments if need be`;
        return { field: 'namespace', problem };
      }
      return { principal: { role, namespace, ...(principal !== undefined && { principal }) } };
  }
};
