import type { MemoryEntry, MemoryMark } from '../../shared/domain/memory/memory-entry.ts';
import { parseScopeName } from '../../shared/domain/memory/memory-scope.ts';
import { memoryIdOf } from '../../shared/domain/memory/order.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../shared/domain/session/events.ts';
import type { MemoryChange } from '../../shared/domain/values/memory-edit.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { ask } from './asking.ts';
import { type Asker, onceIdOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { memorySight, noSuchMemory, permitChange, placeOf, scopeNamed, scopesOf } from './memory.ts';
import { forbidden, holderOf } from './speaker.ts';

/** What callers do with the long-term memory, whatever door they come in by (A7/82). */

/** A memory as lists show it. */
const shownMemory = ({ changes: _, ...entry }: MemoryEntry) => entry;

export interface MemoryQuery {
  readonly scope?: string | undefined;
  readonly query?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** What is remembered that the caller may see: changed last first, or with a query the best first and then without further pages. */
export const listMemory = async (context: GatewayContext, { principal }: Asker, { scope, query, limit, cursor }: MemoryQuery) => {
  const after = cursor === undefined ? undefined : markOf(cursor);
  if (query !== undefined && after) throw new NatterError('invalid', 'cursor: is not for a search', { field: 'cursor' });
  const all = scopesOf(context, principal);
  const wanted = scope === undefined ? undefined : scopeNamed(context, principal, scope);
  const scopes = wanted === undefined ? all : all === 'all' || all.includes(wanted) ? [wanted] : [];
  const view = await context.memory.view();
  // The scopes are those of the index and of the copy, which may be late.
  const sees = memorySight(context, principal);
  const shown = async (entries: readonly MemoryEntry[]) => {
    const seen = await Promise.all(entries.map(sees));
    return entries.filter((_, at) => seen[at]).map(shownMemory);
  };
  if (query !== undefined) return { memories: await shown(view.search({ scopes, query, limit })), nextCursor: null };
  const found = view.list({ scopes, limit: limit + 1, after });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { memories: await shown(page), nextCursor: found.length > limit && last ? `${last.source.seq}.${last.id}` : null };
};

const markOf = (cursor: string): MemoryMark => {
  const [, seq, id] = /^(\d{1,15})\.(\d{1,15}-\d{1,6})$/.exec(cursor) ?? [];
  if (seq !== undefined && id !== undefined) return { id, source: { seq: Number(seq) } };
  throw new NatterError('invalid', 'cursor: use the "nextCursor" of the page before', { field: 'cursor' });
};

/** Throws `noSuchMemory()`. */
const memoryOf = async (context: GatewayContext, { principal }: Asker, id: string): Promise<MemoryEntry> => {
  const entry = (await context.memory.view()).get(id);
  if (entry === undefined || !(await memorySight(context, principal)(entry))) throw noSuchMemory();
  return entry;
};

/** One memory and how it came to be, from the log: "why do you believe this". */
export const readMemory = async (context: GatewayContext, asker: Asker, id: string) => {
  const entry = await memoryOf(context, asker, id);
  const history: object[] = [];
  for (const { key, seq } of entry.changes) {
    for await (const commit of context.ports.events.read(key, { after: seq - 1, upTo: seq }))
      history.push(...changesOf(commit, id));
  }
  return { ...shownMemory(entry), history };
};

/** What a commit made of one memory. */
const changesOf = (commit: RecordedCommit, id: string): object[] => {
  let added = 0;
  return commit.events
    .filter((event): event is EventOf<'memory_changed'> => event.type === 'memory_changed')
    .flatMap(({ changes, by, person, sessionId, fromRev, toRev, callId }) =>
      changes
        .filter((change) => (change.op === 'add' ? memoryIdOf(commit, added++) : change.id) === id)
        .map((change) => ({
          ...{ seq: commit.seq, key: commit.key, at: commit.at, by, sessionId, fromRev, toRev },
          ...(person !== undefined && { person }),
          ...(callId !== undefined && { callId }),
          op: change.op,
          ...(change.from && { from: change.from }),
          ...(change.op === 'forget' ? { reason: change.reason } : { text: change.text }),
        })),
    );
};

export interface MemoryWish {
  readonly idempotencyKey?: string | undefined;
}

/** A person has something remembered. Tells its id once it is recorded. Throws `NatterError('forbidden' | 'invalid')` and `noSuchSession()`. */
export const addMemory = async (
  context: GatewayContext,
  asker: Asker,
  given: MemoryWish & { readonly text: string; readonly scope: string },
) => {
  const { principal } = asker;
  // What it could not see it does not add either.
  if (principal.role === 'channel') throw forbidden('scope', 'a channel has no memory; use a token of a person or of the owner');
  const name = scopeNamed(context, principal, given.scope);
  const parsed = parseScopeName(name);
  if (parsed === null) throw noSuchMemory();
  if (parsed.key !== undefined) await context.access.read(principal, parsed.key);
  else if (principal.role !== 'owner' && !scopesOf(context, principal).includes(name))
    throw forbidden('scope', 'is not yours to write');
  await permitChange(context, principal, name);
  const key = placeOf(parsed);
  const change = { op: 'add', scope: parsed.scope, text: given.text } as const;
  const asked = await changed(context, asker, { key, change, scope: parsed.scope, idempotencyKey: given.idempotencyKey });
  return { ...(asked.seq !== undefined && { id: `${asked.seq}-0` }), scope: name, ...asked };
};

/** A person has something forgotten. Throws `noSuchMemory()` and `NatterError('forbidden')`. */
export const forgetMemory = async (
  context: GatewayContext,
  asker: Asker,
  given: MemoryWish & { readonly id: string; readonly reason: string },
) => {
  const { id, reason, idempotencyKey } = given;
  const entry = await memoryOf(context, asker, id);
  await permitChange(context, asker.principal, entry.scope);
  const parsed = parseScopeName(entry.scope);
  if (parsed === null) throw noSuchMemory();
  const change = { op: 'forget', id, reason } as const;
  return { id, ...(await changed(context, asker, { key: placeOf(parsed), change, scope: parsed.scope, idempotencyKey })) };
};

interface Wanted extends MemoryWish {
  readonly key: MemoryEntry['source']['key'];
  readonly change: MemoryChange;
  readonly scope: NonNullable<ReturnType<typeof parseScopeName>>['scope'];
}
/** Asks the session, and waits until lists show it. */
const changed = async (context: GatewayContext, asker: Asker, { key, change, scope, idempotencyKey }: Wanted) => {
  const runId = idempotencyKey === undefined ? undefined : onceIdOf(asker, key, 'change_memory', idempotencyKey);
  const by = holderOf(asker, context.access.identities);
  const memory = { changes: [change], reach: [scope] };
  const asked = await ask(context, asker, key, { type: 'change_memory', memory, by }, { runId });
  const seq = asked.status === 'ok' ? asked.seq : undefined;
  if (seq !== undefined) await context.memory.reaches(seq);
  return { ...asked, ...(seq !== undefined && { seq }) };
};
