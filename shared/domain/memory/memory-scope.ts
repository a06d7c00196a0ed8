import { escapeText, unescapeText } from '../../kit/text/escape-text.ts';
import type { Identities } from '../keys/identity.ts';
import { parseKey, type SessionKey, sessionKeyProblem } from '../keys/session-key.ts';
import { type MemoryScope, memoryScope } from '../values/memory-edit.ts';
import type { Sender } from '../values/types.ts';

/**
 * Which memories a session may read and write (A7/82, I12). What was said in one person's own session never appears in a session
 * that anyone else takes part in:
 *
 * - `session`: always; memories of a session stay in that session.
 * - `person`: only in a main or direct session of exactly one person. Everyone who ever wrote there counts, as the log shows
 * *now*, as does the sender whose turn it is. Identity links count as they are today (A3/29, A5/66). A group, a job, a hook, a
 * sub-agent or an API client's own session has none, whoever writes: others read what is said there.
 * - `agent`: read by all sessions of the agent, written only by the owner in such a session of their own.
 *
 * A program that writes on its own may read here, since the session is the person's. It may change memories of the person only on
 * their behalf.
 */
export interface MemoryPlace {
  readonly key: SessionKey;
  /** Everyone who has written here so far: `IndexRow.participants` of an up-to-date row (`rowNow`). */
  readonly participants: readonly string[];
  /** On whose behalf the turn acts (`ToolScope.sender`). Absent for introspection, which acts for all participants. */
  readonly sender?: Sender | undefined;
}
export interface MemoryReach {
  readonly read: readonly MemoryScope[];
  /** At most as many scopes as `memoryEdit.reach` allows. */
  readonly write: readonly MemoryScope[];
}
export interface MemoryRules {
  readonly mainKey: string;
  readonly identities: Identities;
}

/** Maximum number of scopes that one change can name. */
const writable = 8;

export const memoryReach = (place: MemoryPlace, rules: MemoryRules): MemoryReach => {
  const { sender } = place;
  const person = ownerOf(place, rules);
  const session = { kind: 'session' } as const;
  const agent = { kind: 'agent' } as const;
  const theirs = person === null ? [] : personScopes(person, place, rules);
  const isTheirWord = person !== null && (sender === undefined || isPerson(sender, person, rules));
  const isOwner = isTheirWord && sender?.role === 'owner' && sender.onBehalfOf === undefined;
  const own = isTheirWord ? theirs : [];
  return {
    read: [session, ...theirs, agent],
    write: [session, ...(isOwner ? [agent] : []), ...own].slice(0, writable),
  };
};

/** The only person in the session, or `null`. */
const ownerOf = ({ key, participants, sender }: MemoryPlace, { mainKey, identities }: MemoryRules): string | null => {
  const { kind } = parseKey(key, mainKey);
  if (kind !== 'main' && kind !== 'dm') return null;
  const people = new Set(participants.map(identities.resolve));
  if (sender !== undefined && speaksFor(sender)) {
    // A sender without a principal cannot be told apart from others.
    if (sender.principal === undefined) return null;
    people.add(identities.resolve(sender.principal));
  }
  const [person] = people;
  if (person === undefined || people.size > 1) return null;
  return person.includes(':') || identities.isName(person) ? person : null;
};

/** False only for a program that acts for nobody in particular. */
const speaksFor = ({ role, principal, onBehalfOf }: Sender): boolean =>
  role !== 'program' || principal !== undefined || onBehalfOf !== undefined;

const isPerson = ({ principal }: Sender, person: string, { identities }: MemoryRules): boolean =>
  principal !== undefined && identities.resolve(principal) === person;

/** A person's scope, and the scopes of all ids now linked to them: older memories stay under the name they were written with. */
const personScopes = (
  person: string,
  { participants, sender }: MemoryPlace,
  { identities }: MemoryRules,
): Extract<MemoryScope, { kind: 'person' }>[] => {
  const names = new Set([
    person,
    ...participants,
    ...(sender?.principal === undefined ? [] : [sender.principal]),
    ...(identities.aliasesOf(person) ?? []),
  ]);
  return Array.from(names, (principal) => ({ kind: 'person', principal }) as const);
};

/**
 * A scope's full name, as memories carry it: `agent:<id>`, `person:<agentId>:<principal>` (escaped), `session:<key>`. Injective,
 * since an agent id contains no `:`.
 */
export const scopeName = (scope: MemoryScope, key: SessionKey): string => {
  const { agentId } = parseKey(key);
  switch (scope.kind) {
    case 'agent':
      return `agent:${agentId}`;
    case 'person':
      return `person:${agentId}:${escapeText(scope.principal)}`;
    case 'session':
      return `session:${key}`;
  }
};

export const scopeNames = (scopes: readonly MemoryScope[], key: SessionKey): string[] =>
  scopes.map((scope) => scopeName(scope, key));

/** Parses a scope name into the scope and its agent or session; `null` if it is not valid. */
export const parseScopeName = (
  name: string,
): { readonly scope: MemoryScope; readonly agentId: string; readonly key?: SessionKey } | null => {
  const [kind, agentId = '', ...rest] = name.split(':');
  const principal = rest.join(':');
  // Keys without an agent have memories too.
  const isAgent = agentId === '' || sessionKeyProblem(`agent:${agentId}:main`) === null;
  switch (kind) {
    case 'agent':
      return isAgent && rest.length === 0 ? { scope: { kind }, agentId } : null;
    case 'person': {
      const scope = isAgent && isEscaped(principal) ? memoryScope.safeParse({ kind, principal: unescapeText(principal) }) : null;
      return scope?.success ? { scope: scope.data, agentId } : null;
    }
    case 'session': {
      const key = name.slice('session:'.length);
      return sessionKeyProblem(key) === null ? { scope: { kind }, agentId: parseKey(key).agentId, key: key as SessionKey } : null;
    }
    default:
      return null;
  }
};

/** True if `text` is output of `escapeText`. */
const isEscaped = (text: string): boolean => {
  try {
    return escapeText(unescapeText(text)) === text;
  } catch {
    return false;
  }
};
