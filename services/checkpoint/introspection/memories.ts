import type { Config } from '../../../shared/domain/config/schema.ts';
import type { ShownMemory } from '../../../shared/domain/introspection/prompt.ts';
import { identitiesOf } from '../../../shared/domain/keys/identity.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { memoryReach, scopeNames } from '../../../shared/domain/memory/memory-scope.ts';
import type { MemoryScope } from '../../../shared/domain/values/memory-edit.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { MemoryView } from '../../../shared/ports/memory-store.ts';
import { rowNow } from '../../../shared/runtime/session-tools/row-now.ts';

/** The scopes that an introspection may change, and the newest memories in them. */
export interface Memories {
  readonly reach: readonly MemoryScope[];
  readonly shown: readonly ShownMemory[];
}

export interface MemorySources {
  readonly config: Config;
  readonly ports: Pick<Ports, 'events' | 'clock' | 'index'>;
  readonly view: Pick<MemoryView, 'list' | 'position'>;
}
/** Milliseconds between checks, and in all, to wait for the memories that were added before, so that they are not added again. */
const waitMs = 50;
const mostWaitMs = 2_000;

/**
 * Decides by all participants so far (A7/82, I12): memories of a person come only from sessions of that person alone; what
 * several people said stays in their session.
 */
export const memoriesOf = async (
  { config, ports, view }: MemorySources,
  { key, memorySeq, characters }: { key: SessionKey; memorySeq: number; characters: number },
): Promise<Memories> => {
  if (!config.memory.enabled) return { reach: [], shown: [] };
  for (let waitedMs = 0; view.position() < memorySeq && waitedMs < mostWaitMs; waitedMs += waitMs)
    await ports.clock.sleep(waitMs);
  const row = await rowNow(ports, key, await ports.index.get(key));
  const rules = { mainKey: config.session.mainKey, identities: identitiesOf(config.session.identityLinks) };
  const reach = memoryReach({ key, participants: row?.participants ?? [] }, rules).write.filter(({ kind }) => kind !== 'agent');
  const shown: ShownMemory[] = [];
  let room = characters;
  for (const { id, text } of view.list({ scopes: scopeNames(reach, key), limit: limits.introspectionMemories })) {
    room -= text.length;
    if (room < 0) break;
    shown.push({ id, text });
  }
  return { reach, shown };
};
