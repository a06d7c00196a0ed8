import { type Principal, personOf, seesAll } from '../../../shared/domain/access/access.ts';
import { isGroupKey, parseKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { MemoryEntry } from '../../../shared/domain/memory/memory-entry.ts';
import { parseScopeName, scopeName } from '../../../shared/domain/memory/memory-scope.ts';
import { memorySessionOf } from '../../../shared/domain/memory/memory-session.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { MemoryScopes, MemoryView } from '../../../shared/ports/memory-store.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { type Admission, ownersOnly } from './access.ts';
import type { GatewayContext } from './gateway-context.ts';

/** Access to long-term memory: who may see and change which part of it (A7/82). */

/** How long a caller waits until the memory shows their change. */
const followMs = 3_000;
const lookMs = 20;

/** This gateway's copy of the memory, opened on first use. */
export class MemoryList {
  readonly #ports: Pick<Ports, 'memory' | 'clock'>;
  #view: Promise<MemoryView> | null = null;

  constructor(ports: Pick<Ports, 'memory' | 'clock'>) {
    this.#ports = ports;
  }

  /** Rejects with `NatterError('unavailable')` while it cannot be loaded. */
  view(): Promise<MemoryView> {
    this.#view ??= this.#ports.memory.watch().catch((error: unknown) => {
      this.#view = null;
      throw error;
    });
    return this.#view;
  }

  /** Waits until the copy shows what is recorded at a sequence, up to a limit, because the memory may not be written at all. */
  async reaches(seq: number): Promise<MemoryView> {
    const { clock } = this.#ports;
    const view = await this.view();
    for (const until = clock.monotonic() + followMs; view.position() < seq && clock.monotonic() < until; )
      await clock.sleep(lookMs);
    return view;
  }

  async close(): Promise<void> {
    await (await this.#view?.catch(() => null))?.close();
  }
}

type Reading = Pick<GatewayContext, 'access' | 'config' | 'sessions'>;

/**
 * The scopes that a caller may see: all for those who see everything; for a person their own and those of their sessions; none for others.
 */
export const scopesOf = (context: Reading, principal: Principal): MemoryScopes => {
  if (seesAll(principal)) return 'all';
  const person = principal.role === 'participant' ? personOf(principal) : undefined;
  if (person === undefined) return [];
  const { rows } = context.sessions.list({
    limit: limits.pageRows,
    status: 'all',
    withGlobal: true,
    reach: context.access.reach(principal),
  });
  const keys = rows.map(({ key }) => key);
  return [...personNames(context, person, keys), ...keys.map((key) => scopeName({ kind: 'session' }, key))];
};

/** The names of a person's scopes, with each agent. */
const personNames = ({ access, config }: Reading, person: string, keys: readonly SessionKey[]): string[] => {
  const names = new Set([access.identities.resolve(person), person, ...(access.identities.aliasesOf(person) ?? [])]);
  const agents = new Set([config.agent.id, ...keys.map((key) => parseKey(key).agentId)]);
  return [...agents].flatMap((agentId) =>
    Array.from(names, (principal) => scopeName({ kind: 'person', principal }, `agent:${agentId}:main` as SessionKey)),
  );
};

/** The one answer for a memory that does not exist or is not visible to the caller. */
export const noSuchMemory = (): NatterError =>
  new NatterError('not_found', 'there is no such memory, or it is not yours to see', { field: 'id' });

/** Decides for each memory whether the caller may see it, by the current log; each session is checked once. */
export const memorySight = (context: Reading, principal: Principal): ((entry: MemoryEntry) => Promise<boolean>) => {
  const { access } = context;
  const admissions = new Map<SessionKey, Promise<Admission | null>>();
  const admissionTo = (key: SessionKey): Promise<Admission | null> => {
    const asked = admissions.get(key) ?? access.read(principal, key).catch(() => null);
    admissions.set(key, asked);
    return asked;
  };
  return async ({ scope, source }) => {
    if (seesAll(principal)) return true;
    if (principal.role !== 'participant') return false;
    const parsed = parseScopeName(scope);
    if (parsed?.scope.kind === 'person')
      return access.identities.resolve(parsed.scope.principal) === access.identities.resolve(principal.principal);
    if (parsed?.key === undefined) return false;
    const admission = await admissionTo(parsed.key);
    return admission !== null && source.seq > admission.after;
  };
};

/**
 * Allows the caller to change memories in a scope that they may see. Shared scopes are the owner's. Throws
 * `NatterError('forbidden')`.
 */
export const permitChange = async (context: Reading, principal: Principal, name: string): Promise<void> => {
  if (principal.role === 'owner') return;
  const parsed = parseScopeName(name);
  const isShared = parsed?.scope.kind === 'agent' || (parsed?.key !== undefined && isGroupKey(parsed.key));
  if (isShared) ownersOnly(principal, 'what is remembered for several people');
  if (parsed?.key !== undefined) await context.access.permitDeletion(principal, parsed.key, 'session');
};

/**
 * The session whose log records a person's change: the session itself, else the agent's memory session, in which nobody talks, so that no
 * participant of another session reads it.
 */
export const placeOf = ({ scope, agentId, key }: NonNullable<ReturnType<typeof parseScopeName>>): SessionKey => {
  if (scope.kind === 'session' && key !== undefined) return key;
  return memorySessionOf(agentId);
};

/** The full name of a scope that a caller names in full or, where it is unambiguous, in one word. */
export const scopeNamed = ({ config, access }: Reading, principal: Principal, given: string): string => {
  const agentId = config.agent.id;
  const person = personOf(principal);
  if (given === 'agent') return `agent:${agentId}`;
  if (given === 'person' && person !== undefined) {
    return scopeName({ kind: 'person', principal: access.identities.resolve(person) }, `agent:${agentId}:main` as SessionKey);
  }
  if (given.startsWith('session:')) return `session:${keyFrom(config, given.slice('session:'.length), 'scope')}`;
  if (parseScopeName(given) !== null) return given;
  const message = 'scope: use "agent:<agentId>", "person:<agentId>:<person>" or "session:<key>"';
  throw new NatterError('invalid', message, { field: 'scope' });
};
