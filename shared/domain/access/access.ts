import type { Config } from '../config/schema.ts';
import type { Identities, IdentityLinks } from '../keys/identity.ts';
import { bareKey, isGroupKey, parseKey, type SessionKey } from '../keys/session-key.ts';
import { placing } from '../routing/envelope-key.ts';
import type { InboundEnvelope } from '../routing/inbound-envelope.ts';
import type { Role } from '../values/role.ts';

/** Which caller may see which session (A5/67, A8/89–90, C14). The only place with access rules. */

/**
 * On whose behalf a call is made. `principal` is a person: a name of `session.identityLinks` or `<channel>:<id>`. `namespace`
 * limits a token to session keys with that prefix, without `agent:<agentId>:`, such as `telegram`. An `admin` is an owner who may
 * also manage tokens. A `read-only` token reads what the owner can. An `approver` sees and answers pending approvals, and sees no
 * session. A `viewer` holds a link to one session and reads that alone. `deletedSeq` is that of the session: another one that is begun
 * under the same key after a deletion is not theirs to see.
 */
export type Principal =
  | { readonly role: 'owner'; readonly admin?: true }
  | { readonly role: 'read-only' }
  | { readonly role: 'approver'; readonly namespace?: string; readonly principal?: string }
  | { readonly role: 'participant'; readonly principal: string }
  | { readonly role: 'channel'; readonly namespace: string; readonly principal?: string }
  | { readonly role: 'viewer'; readonly sessionKey: SessionKey; readonly deletedSeq: number };

/** True for the roles that see every session. */
export const seesAll = ({ role }: Principal): boolean => role === 'owner' || role === 'read-only';

/** The person a token speaks for, if it belongs to one. */
export const personOf = (caller: Principal): string | undefined => ('principal' in caller ? caller.principal : undefined);

/**
 * What access depends on. `participants` are principals as recorded; they are resolved on each check, so that merged identities
 * count (A5/66). `deletedSeq`: where the session before it under this key was deleted; 0 without one.
 */
export interface Guarded {
  readonly key: SessionKey;
  readonly participants: readonly string[];
  readonly deletedSeq: number;
}

/**
 * The owner sees all sessions, others those they take part in. A channel token sees none outside its namespace, an approver none
 * at all, a viewer the one of their link.
 */
export const canAccess = (caller: Principal, { key, participants, deletedSeq }: Guarded, { resolve }: Identities): boolean => {
  const takesPart = (principal: string): boolean => {
    const person = resolve(principal);
    return participants.some((stored) => resolve(stored) === person);
  };
  switch (caller.role) {
    case 'owner':
    case 'read-only':
      return true;
    case 'approver':
      return false;
    case 'participant':
      return takesPart(caller.principal);
    case 'channel':
      return isWithin(caller.namespace, key) && (caller.principal === undefined || takesPart(caller.principal));
    case 'viewer':
      return key === caller.sessionKey && deletedSeq === caller.deletedSeq;
  }
};

/**
 * True for a session that several people share: the main session, one for everything, that of a group, and what more than one
 * person took part in. Only the owner may change it (D7).
 */
export const isShared = (
  { key, participants }: Pick<Guarded, 'key' | 'participants'>,
  mainKey: string,
  { resolve }: Identities,
): boolean => {
  const { kind } = parseKey(key, mainKey);
  return kind === 'main' || kind === 'global' || isGroupKey(key) || new Set(participants.map(resolve)).size > 1;
};

/** Who may see a session's pending approvals: everyone who may see the session, and approvers of its namespace (A5/62). */
export const seesApproval = (caller: Principal, session: Guarded, identities: Identities): boolean =>
  caller.role === 'approver'
    ? caller.namespace === undefined || isWithin(caller.namespace, session.key)
    : canAccess(caller, session, identities);

/** What a call changes: sessions, approvals, or nothing. */
export type ChangeKind = 'sessions' | 'approvals' | 'nothing';

/** What a role forbids whatever the session: a read-only token and a viewer change nothing, and an approver only answers approvals. */
export const mayChange = ({ role }: Principal, change: ChangeKind): boolean => {
  if (change === 'nothing') return true;
  return role === 'approver' ? change === 'approvals' : role !== 'read-only' && role !== 'viewer';
};

/**
 * Compares whole segments: `telegram` contains `agent:main:telegram:dm:7`, but not `agent:main:telegramx:dm:7` or a main session
 * named `telegram`.
 */
export const isWithin = (namespace: string, key: SessionKey): boolean => bareKey(key).startsWith(`${namespace}:`);

/**
 * True when a direct message of this principal, and of nobody else, would be routed to `key` (A3/26–28). Callers other than the
 * owner may start such a session (A5/67). The main session is shared, so it belongs to nobody.
 */
export const ownsKey = (caller: Principal, key: SessionKey, config: Config, identities: Identities): boolean => {
  const person = caller.role === 'approver' ? undefined : personOf(caller);
  const { kind, channel, accountId } = parseKey(key, config.session.mainKey);
  if (person === undefined || kind !== 'dm' || (caller.role === 'channel' && !isWithin(caller.namespace, key))) return false;
  const place = placing(config, identities);
  return addressesOf(person, config.session.identityLinks, channel).some((address) => {
    const placed = place({ ...direct, ...(accountId !== undefined && { accountId }), ...address });
    return 'key' in placed && placed.key === key;
  });
};

/** The fields of a direct message that routing reads. */
const direct = {
  id: 'any',
  kind: 'message',
  conversation: { id: 'any', kind: 'direct' },
  text: '',
  mentioned: false,
  directed: false,
} as const;

/** The addresses a person writes from. An id without a channel applies to any channel; `anyChannel` fills it in. */
const addressesOf = (person: string, links: IdentityLinks, anyChannel = ''): Pick<InboundEnvelope, 'channel' | 'sender'>[] =>
  (Object.hasOwn(links, person) ? (links[person] ?? []) : [person]).map((address) => {
    const colon = address.indexOf(':');
    return { channel: colon === -1 ? anyChannel : address.slice(0, colon), sender: { id: address.slice(colon + 1) } };
  });

/** The channel of a namespace: its first segment. */
export const channelOfNamespace = (namespace: string): string => namespace.split(':', 1)[0] ?? namespace;

/** The role and limits of a token, as given where it is created or configured. */
export interface Reach {
  readonly role: Role;
  readonly principal?: string | undefined;
  readonly namespace?: string | undefined;
  readonly sessionKey?: string | undefined;
  /** Of the session, as in `Principal`. */
  readonly deletedSeq?: number | undefined;
}

/** The principal a token stands for, or the invalid field with its problem and the fix. */
export type Grant = { readonly principal: Principal } | { readonly field: Field; readonly problem: string };
type Field = 'principal' | 'namespace' | 'sessionKey';

/** Whether each role requires, allows or refuses a principal, a namespace and a session. */
const reachOf: Readonly<Record<Role, Readonly<Record<Field, 'needed' | 'possible' | 'none'>>>> = {
  owner: { principal: 'none', namespace: 'none', sessionKey: 'none' },
  admin: { principal: 'none', namespace: 'none', sessionKey: 'none' },
  'read-only': { principal: 'none', namespace: 'none', sessionKey: 'none' },
  participant: { principal: 'needed', namespace: 'none', sessionKey: 'none' },
  channel: { principal: 'possible', namespace: 'needed', sessionKey: 'none' },
  approver: { principal: 'possible', namespace: 'possible', sessionKey: 'none' },
  viewer: { principal: 'none', namespace: 'none', sessionKey: 'needed' },
};
const missing: Readonly<Record<Field, string>> = {
  principal: 'is missing; a participant token speaks for a person: use "<channel>:<id>" or a linked name',
  namespace: 'is missing; name the channel, such as "telegram"',
  sessionKey: 'is missing; name the session that its holder may read',
};
const elsewhere: Readonly<Record<Field, string>> = { principal: 'participant', namespace: 'channel', sessionKey: 'viewer' };

/** The principal of a token. Its fields were checked when it was created. */
export const principalOf = ({ role, principal, namespace, sessionKey, deletedSeq = 0 }: Reach): Principal => {
  const reach = {
    ...(principal !== undefined && { principal }),
    ...(namespace !== undefined && { namespace }),
    ...(sessionKey !== undefined && { sessionKey, deletedSeq }),
  };
  return role === 'admin' ? { role: 'owner', admin: true } : ({ role, ...reach } as Principal);
};

export const grantOfToken = (token: Reach, links: IdentityLinks): Grant => {
  const { role, principal, namespace } = token;
  if (principal !== undefined && !principal.includes(':') && !Object.hasOwn(links, principal)) {
    const problem = `"${principal}" is unknown; use "<channel>:<id>" or a name of session.identityLinks`;
    return { field: 'principal', problem };
  }
  for (const field of ['principal', 'namespace', 'sessionKey'] as const) {
    const use = reachOf[role][field];
    if (use === 'needed' && token[field] === undefined) return { field, problem: missing[field] };
    if (use === 'none' && token[field] !== undefined)
      return { field, problem: `does not apply to role "${role}"; remove it, or use role "${elsewhere[field]}"` };
  }
  if (namespace !== undefined && !/^[a-z][a-z0-9_-]{0,31}(:[^\s:*>%]+)*$/.test(namespace)) {
    const problem = `"${namespace}" is not the beginning of a session key; use a channel name such as "telegram", optionally with further segments`;
    return { field: 'namespace', problem };
  }
  return { principal: principalOf(token) };
};
