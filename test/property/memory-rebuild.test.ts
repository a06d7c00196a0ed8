import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryFold } from '../../services/checkpoint/memory/fold.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { MemoryChange } from '../../shared/domain/values/memory-edit.ts';
import type { MemoryNews } from '../../shared/ports/memory-store.ts';
import { keyOf } from '../support/domain/commits.ts';
import { changed, deleted, recordedAt } from '../support/memories.ts';
import { runs } from '../support/runs.ts';

/** Random histories of a few sessions, stored, and read anew from any place on: by whoever takes over, or to make the memory anew. */

const sessions = ['agent:main:main', 'agent:main:telegram:dm:1', 'agent:work:main'].map(keyOf);
const scope = fc.constantFrom('agent', 'session', 'person').map((kind) => ({ kind, principal: 'ann' }) as const);
/** Of a memory that may be there, by the number of its commit. */
const id = fc.nat(30).map((seq) => `${seq + 1}-0`);
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('add' as const), scope, text: fc.string({ minLength: 1, maxLength: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('update' as const), id, text: fc.string({ minLength: 1, maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('forget' as const), id, reason: fc.constant('') }) },
) as fc.Arbitrary<MemoryChange>;
const event = fc.oneof(
  { weight: 6, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => changed(changes)) },
  { weight: 1, arbitrary: fc.constantFrom('session', 'key', 'erased').map((mode) => deleted(mode as 'key')) },
);
const history = fc
  .array(fc.tuple(fc.constantFrom(...sessions), event), { minLength: 1, maxLength: 30 })
  .map((all) => all.map(([key, what], at) => recordedAt(key, at + 1, what)));

/** The log as it is after what was erased is gone. */
const withoutErased = (commits: readonly RecordedCommit[]): RecordedCommit[] =>
  commits.filter(
    ({ key, seq }) =>
      !commits.some(
        (later) =>
          later.key === key &&
          later.seq > seq &&
          later.events.some((one) => one.type === 'session_deleted' && one.mode === 'erased'),
      ),
  );

type Begin = (stored: MemoryNews) => MemoryFold;
const afresh: Begin = ({ entries, gone }) => new MemoryFold(entries, gone);

/** What is stored after a history, and that nothing comes of reading it once more from its commit `from` on, not for a moment. */
const isStable = (begin: Begin, commits: readonly RecordedCommit[], from: number): boolean => {
  const fold = new MemoryFold();
  for (const commit of commits) fold.add(commit);
  const stored = fold.takeNews();
  const again = begin(stored);
  for (const commit of withoutErased(commits).filter(({ seq }) => seq >= from)) {
    again.add(commit);
    const { entries, gone } = again.takeNews();
    // The same once more is written over nothing; a mark of what is gone stays for ever.
    const isSame = entries.every((entry) => stored.entries.some((one) => JSON.stringify(one) === JSON.stringify(entry)));
    if (gone.length > 0 || !isSame) return false;
  }
  return again.size === stored.entries.length;
};
const stable = (begin: Begin) => fc.property(history, fc.nat(30), (commits, from) => isStable(begin, commits, from));

test('A7/82, C9: reading the log anew changes nothing of what is stored, wherever it begins and whatever was erased', () => {
  fc.assert(stable(afresh), { numRuns: runs(2_000) });
});

test.each<[string, Begin]>([
  ['does not know what is gone', ({ entries }) => new MemoryFold(entries)],
  ['knows nothing', () => new MemoryFold()],
  [
    'takes what is stored for older than it is',
    ({ entries, gone }) =>
      new MemoryFold(
        entries.map((entry) => ({ ...entry, source: { ...entry.source, seq: 0 } })),
        gone,
      ),
  ],
  [
    'does not know since when a session had a part in it',
    ({ entries, gone }) =>
      new MemoryFold(
        entries.map((entry) => ({ ...entry, changes: entry.changes.map((place) => ({ ...place, seq: 0 })) })),
        gone,
      ),
  ],
])('the property notices a fold that %s', (_, begin) => {
  expect(fc.check(stable(begin), { numRuns: 3_000 }).failed).toBe(true);
});
