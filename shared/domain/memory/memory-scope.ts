import { escapeText, unescapeText } from '../../kit/escape-text.ts';
import type { Identities } from '../keys/identity.ts';
import { parseKey, type SessionKey, sessionKeyProblem } from '../keys/session-key.ts';
import { type MemoryScope, memoryScope } from '../values/memory-edit.ts';
import type { Sender } from '../values/types.ts';

/**
 * Whose memories a session may read and write (A7/82, I12). What was told in one person's own session comes up in no session that anybody
 * else takes part in:
 *
 * - `session`: always; the memories of a session go no further than it.
 * - `person`: only in a main or direct session that is one person's alone. Everybody who ever wrote there counts, as the log has it *now*, and
 *   whoever the turn acts for. Links of identities count as they are today (A3/29, A5/66). A group, a job, a hook, a sub-agent, an API client's
 *   own session has none, whoever writes: what is said there is heard by others.
 * - `agent`: read by all sessions of the agent, written only by the owner in such a session of their own.
 *
 * A program may read where it writes on its own, as the session is the person's; it changes what is remembered of them only on their behalf.
 */
export interface MemoryPlace {
  readonly key: SessionKey;
  /** All who have written here as of now: `IndexRow.participants` of a row that is up to date (`rowNow`). */
  readonly participants: readonly string[];
  /** In whose name the turn acts (`ToolScope.sender`). Absent: nobody's; a look back, which has the rights of all who took part. */
  readonly sender?: Sender | undefined;
}
export interface MemoryReach {
  readonly read: readonly MemoryScope[];
  /** At most as many as a change may name (`memoryEdit.reach`). */
  readonly write: readonly MemoryScope[];
}
export interface MemoryRules {
  /** `session.mainKey`. */
  readonly mainKey: string;
  readonly identities: Identities;
}

/** Scopes that one change can name. */
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

/** The one person whose session it is alone, or `null`. */
const ownerOf = ({ key, participants, sender }: MemoryPlace, { mainKey, identities }: MemoryRules): string | null => {
  const { kind } = parseKey(key, mainKey);
  if (kind !== 'main' && kind !== 'dm') return null;
  const people = new Set(participants.map(identities.resolve));
  if (sender !== undefined && speaksFor(sender)) {
    // Nobody knows who several people are, or somebody without a principal.
    if (sender.principal === undefined) return null;
    people.add(identities.resolve(sender.principal));
  }
  const [person] = people;
  if (person === undefined || people.size > 1) return null;
  return person.includes(':') || identities.isName(person) ? person : null;
};

/** True unless it is a program that works for nobody in particular. */
const speaksFor = ({ role, principal, onBehalfOf }: Sender): boolean =>
  role !== 'program' || principal !== undefined || onBehalfOf !== undefined;

const isPerson = ({ principal }: Sender, person: string, { identities }: MemoryRules): boolean =>
  principal !== undefined && identities.resolve(principal) === person;

/** A person's scope, and those of the ids that were found to be theirs since: what is there already is under the name it was kept under. */
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
 * A scope's full name, as memories have it: `agent:<id>`, `person:<agentId>:<principal>` (escaped), `session:<key>`. Injective: an agent's id has
 * no `:` in it.
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

/** A scope as its name says, with the agent or the session that it is of; `null`: it is no name of one. */
export const parseScopeName = (
  name: string,
): { readonly scope: MemoryScope; readonly agentId: string; readonly key?: SessionKey } | null => {
  const [kind, agentId = '', ...rest] = name.split(':');
  const principal = rest.join(':');
  // Keys without an agent have a memory too.
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

/** True of a text that `escapeText` has made. */
const isEscaped = (text: string): boolean => {
  try {
    return escapeText(unescapeText(text)) === text;
  } catch {
    return false;
  }
};
