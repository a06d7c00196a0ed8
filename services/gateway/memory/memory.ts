import type { MemoryEntry, MemoryMark } from '../../../shared/domain/memory/memory-entry.ts';
import { parseScopeName } from '../../../shared/domain/memory/memory-scope.ts';
import { memoryIdOf } from '../../../shared/domain/memory/order.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { MemoryChange } from '../../../shared/domain/values/memory-edit.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { forbidden, holderOf } from '../access/speaker.ts';
import { type Caller, idempotentIdOf } from '../commands/envelope.ts';
import { sendCommand } from '../commands/send-command.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { memorySight, noSuchMemory, permitChange, placeOf, scopeNamed, scopesOf } from '../context/memory-list.ts';
import type { Call } from '../operation/operation.ts';

/** Operations on long-term memory (A7/82). */

/** A memory as lists show it. */
const shownMemory = ({ changes: _, ...entry }: MemoryEntry) => entry;

export interface MemoryQuery {
  readonly scope?: string | undefined;
  readonly query?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The memories that the caller may see, last changed first; with a query the best matches, without further pages. */
export const listMemory = async ({ context, caller: { principal } }: Call, { scope, query, limit, cursor }: MemoryQuery) => {
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
const memoryOf = async (context: GatewayContext, { principal }: Caller, id: string): Promise<MemoryEntry> => {
  const entry = (await context.memory.view()).get(id);
  if (entry === undefined || !(await memorySight(context, principal)(entry))) throw noSuchMemory();
  return entry;
};

/** One memory and its history, from the log: "why do you believe this". */
export const readMemory = async ({ context, caller }: Call, id: string) => {
  const entry = await memoryOf(context, caller, id);
  const history: object[] = [];
  for (const { key, seq } of entry.changes) {
    for await (const commit of context.ports.events.read(key, { after: seq - 1, upTo: seq }))
      history.push(...changesOf(commit, id));
  }
  return { ...shownMemory(entry), history };
};

/** The changes of one memory in a commit. */
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

export interface MemoryAddition {
  readonly text: string;
  readonly scope: string;
  readonly idempotencyKey?: string | undefined;
}
export interface MemoryRemoval {
  readonly id: string;
  readonly reason: string;
  readonly idempotencyKey?: string | undefined;
}

/** Adds a memory for a person. Resolves with its id once it is recorded. Throws `NatterError('forbidden' | 'invalid')` and `noSuchSession()`. */
export const addMemory = async ({ context, caller }: Call, given: MemoryAddition) => {
  const { principal } = caller;
  // A channel may not add what it could not see.
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
  const result = await changed(context, caller, { key, change, scope: parsed.scope, idempotencyKey: given.idempotencyKey });
  return { ...(result.seq !== undefined && { id: `${result.seq}-0` }), scope: name, ...result };
};

/** Removes a memory for a person. Throws `noSuchMemory()` and `NatterError('forbidden')`. */
export const forgetMemory = async ({ context, caller }: Call, given: MemoryRemoval) => {
  const { id, reason, idempotencyKey } = given;
  const entry = await memoryOf(context, caller, id);
  await permitChange(context, caller.principal, entry.scope);
  const parsed = parseScopeName(entry.scope);
  if (parsed === null) throw noSuchMemory();
  const change = { op: 'forget', id, reason } as const;
  return { id, ...(await changed(context, caller, { key: placeOf(parsed), change, scope: parsed.scope, idempotencyKey })) };
};

interface RecordedChange extends Pick<MemoryAddition, 'idempotencyKey'> {
  readonly key: MemoryEntry['source']['key'];
  readonly change: MemoryChange;
  readonly scope: NonNullable<ReturnType<typeof parseScopeName>>['scope'];
}
/** Sends the change to the session, and waits until lists show it. */
const changed = async (context: GatewayContext, caller: Caller, { key, change, scope, idempotencyKey }: RecordedChange) => {
  // To forget another memory is no repeat, whatever key a client sends with it.
  const once = idempotencyKey !== undefined && change.op === 'forget' ? `${change.id} ${idempotencyKey}` : idempotencyKey;
  const runId = once === undefined ? undefined : idempotentIdOf(caller, key, 'change_memory', once);
  const by = holderOf(caller, context.access.identities);
  const memory = { changes: [change], reach: [scope] };
  const result = await sendCommand(context, caller, key, { type: 'change_memory', memory, by }, { runId });
  const seq = result.status === 'ok' ? result.seq : undefined;
  if (seq !== undefined) await context.memory.reaches(seq);
  return { ...result, ...(seq !== undefined && { seq }) };
};
