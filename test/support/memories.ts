import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { MemoryEntry } from '../../shared/domain/memory/memory-entry.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../shared/domain/session/events.ts';
import type { MemoryChange, MemoryScope } from '../../shared/domain/values/memory-edit.ts';
import { commitTo, keyOf, recorded } from './domain/commits.ts';

/** One memory; say what the test is about. */
export const memoryOf = (seq: number, text: string, change: Partial<MemoryEntry> = {}): MemoryEntry => {
  const key = keyOf('agent:main:main');
  const place = { key, seq };
  return {
    ...{ id: `${seq}-0`, scope: `session:${key}`, text, createdAt: seq, updatedAt: seq },
    source: { ...place, sessionId: 's1', fromRev: 1, toRev: 2, by: 'agent' },
    changes: [place],
    ...change,
  };
};

export const reachAll = (...people: string[]): MemoryScope[] => [
  { kind: 'session' },
  { kind: 'agent' },
  ...people.map((principal) => ({ kind: 'person', principal }) as const),
];

export const changed = (changes: MemoryChange[], reach: MemoryScope[] = reachAll('ann')): EventOf<'memory_changed'> => ({
  ...{ type: 'memory_changed', v: 1, changes, reach, by: 'agent', sessionId: 's1', fromRev: 1, toRev: 2 },
});

export const deleted = (mode: EventOf<'session_deleted'>['mode']): EventOf<'session_deleted'> => ({
  ...{ type: 'session_deleted', v: 1, mode, sessionId: 's1', generation: 1, epoch: 1, turnIds: [], reason: 'test' },
});

export const recordedAt = (key: SessionKey, seq: number, ...events: RecordedCommit['events']): RecordedCommit =>
  recorded(commitTo(key, { at: seq, events }), seq, seq);
