import { describe, expect, test } from 'vitest';
import { MemoryFold, memoryHeadlines } from '../../../../../services/checkpoint/memory/fold.ts';
import type { RecordedCommit } from '../../../../../shared/domain/session/envelope.ts';
import { headlineOf } from '../../../../../shared/domain/session/headline.ts';
import { limits } from '../../../../../shared/kit/limits.ts';
import { holds, type Intent, intents, play } from '../../../../support/domain/arbitraries.ts';
import { keyOf } from '../../../../support/domain/commits.ts';
import { tell } from '../../../../support/domain/given.ts';
import { changed, deleted, reachAll, recordedAt } from '../../../../support/memories.ts';

const ours = keyOf('agent:main:main');
const other = keyOf('agent:main:telegram:dm:7');
const add = (text: string, scope: 'agent' | 'session' | { person: string } = 'session') =>
  changed([
    { op: 'add', text, scope: typeof scope === 'string' ? { kind: scope } : { kind: 'person', principal: scope.person } },
  ]);
const update = (id: string, text: string) => changed([{ op: 'update', id, text }]);
const forget = (id: string) => changed([{ op: 'forget', id, reason: 'test' }]);
const person = { person: 'ann' };

/** What is remembered after this history, as `id scope text`. */
const remembered = (...commits: RecordedCommit[]): string[] => {
  const fold = new MemoryFold();
  for (const commit of commits) fold.add(commit);
  return Array.from(fold.entries(), ({ id, scope, text }) => `${id} ${scope} ${text}`);
};

describe('A7/82: the long-term memory as a fold of the log', () => {
  test.each<[string, RecordedCommit[], string[]]>([
    ['an addition has an id of its place', [recordedAt(ours, 5, add('a'))], ['5-0 session:agent:main:main a']],
    [
      'each scope has its name',
      [recordedAt(other, 5, add('a', 'agent'), add('b', person), add('c'))],
      ['5-0 agent:main a', '5-1 person:main:ann b', '5-2 session:agent:main:telegram:dm:7 c'],
    ],
    [
      'additions are numbered within a commit, also those that come to nothing',
      [recordedAt(ours, 5, changed([{ op: 'add', scope: { kind: 'agent' }, text: 'a' }], []), add('b'))],
      ['5-1 session:agent:main:main b'],
    ],
    [
      'a change takes the place of the text',
      [recordedAt(ours, 5, add('a')), recordedAt(ours, 6, update('5-0', 'b'))],
      ['5-0 session:agent:main:main b'],
    ],
    ['what is forgotten is gone', [recordedAt(ours, 5, add('a')), recordedAt(ours, 6, forget('5-0'))], []],
    [
      'what is gone cannot be changed',
      [recordedAt(ours, 5, add('a')), recordedAt(ours, 6, forget('5-0')), recordedAt(ours, 7, update('5-0', 'b'))],
      [],
    ],
    ['nothing that nobody added is changed', [recordedAt(ours, 6, update('5-0', 'b'), forget('4-0'))], []],
    [
      "another session's own memories are out of reach",
      [recordedAt(ours, 5, add('a')), recordedAt(other, 6, update('5-0', 'b')), recordedAt(other, 7, forget('5-0'))],
      ['5-0 session:agent:main:main a'],
    ],
    [
      "another person's are",
      [
        recordedAt(ours, 5, add('a', person)),
        recordedAt(other, 6, changed([{ op: 'forget', id: '5-0', reason: '' }], reachAll('bob'))),
      ],
      ['5-0 person:main:ann a'],
    ],
    [
      "another agent's are",
      [recordedAt(ours, 5, add('a', 'agent')), recordedAt(keyOf('agent:work:main'), 6, forget('5-0'))],
      ['5-0 agent:main a'],
    ],
    [
      "a person's are the same from all of their sessions",
      [recordedAt(ours, 5, add('a', person)), recordedAt(other, 6, update('5-0', 'b'))],
      ['5-0 person:main:ann b'],
    ],
    [
      'C9: with a session goes what was its own',
      [recordedAt(ours, 5, add('a'), add('b', person)), recordedAt(ours, 6, deleted('session'))],
      ['5-1 person:main:ann b'],
    ],
    [
      'C9: with an erasure goes all that it had a part in',
      [
        recordedAt(ours, 5, add('a'), add('b', person), add('c', 'agent')),
        recordedAt(other, 6, add('d', person), add('e', 'agent')),
        recordedAt(ours, 7, update('6-0', 'f')),
        recordedAt(ours, 8, deleted('erased')),
      ],
      ['6-1 agent:main e'],
    ],
    [
      'what is added in the commit of a deletion stays',
      [recordedAt(ours, 5, deleted('session'), add('a'))],
      ['5-0 session:agent:main:main a'],
    ],
  ])('%s', (_, commits, expected) => {
    expect(remembered(...commits)).toEqual(expected);
    // The same commits again, one by one or all of them, change nothing.
    expect(remembered(...commits.flatMap((commit) => [commit, commit]))).toEqual(expected);
  });

  test.each(['session', 'key', 'erased'] as const)(
    'C9: read anew, a deletion (%s) takes nothing that was remembered since, not for a moment',
    (mode) => {
      const since = [recordedAt(ours, 8, add('c'), add('d', person), add('e', 'agent')), recordedAt(ours, 9, update('8-1', 'f'))];
      const history = [recordedAt(ours, 5, add('a')), recordedAt(ours, 6, deleted(mode)), ...since];
      const first = new MemoryFold();
      for (const commit of history) first.add(commit);
      const { entries, gone } = first.takeNews();
      expect(entries.map(({ text }) => text)).toEqual(['c', 'f', 'e']);
      const again = new MemoryFold(entries, gone);
      for (const commit of history) {
        again.add(commit);
        // A mark of what is gone stays for ever.
        expect(again.takeNews().gone).toEqual([]);
      }
      expect([...again.entries()]).toEqual(entries);
    },
  );

  test('it goes on from what is stored, and tells what is new', () => {
    const first = new MemoryFold();
    first.add(recordedAt(ours, 5, add('a'), add('b')));
    const stored = first.takeNews();
    expect([stored.entries.length, stored.gone]).toEqual([2, []]);
    expect(first.news).toBe(0);
    const second = new MemoryFold(stored.entries);
    expect(second.news).toBe(0);
    second.add(recordedAt(ours, 6, forget('5-0'), update('5-1', 'c')));
    expect(second.takeNews()).toMatchObject({ entries: [{ id: '5-1', text: 'c', createdAt: 5, updatedAt: 6 }], gone: ['5-0'] });
  });

  test('the source is the last change, and the places of all changes are known', () => {
    const fold = new MemoryFold();
    fold.add(recordedAt(ours, 5, add('a', person)));
    fold.add(recordedAt(other, 6, { ...update('5-0', 'b'), by: 'person', person: 'ann', fromRev: 3, toRev: 4 }));
    const [entry] = fold.entries();
    expect(entry).toMatchObject({
      source: { key: other, seq: 6, by: 'person', person: 'ann', fromRev: 3, toRev: 4 },
      changes: [
        { key: ours, seq: 5 },
        { key: other, seq: 6 },
      ],
    });
    for (let seq = 7; seq < 100; seq++) fold.add(recordedAt(ours, seq, update('5-0', `${seq}`)));
    const [last] = fold.entries();
    expect(last?.changes).toHaveLength(limits.memoryPlaces);
    expect(last?.changes.map(({ seq }) => seq)).toEqual([5, 6, ...Array.from({ length: 30 }, (_, at) => 70 + at)]);
  });

  test('I11: and when they are too long together, also by changes', () => {
    const fold = new MemoryFold();
    const long = 'x'.repeat(limits.memoryCharacters);
    const most = limits.scopeMemoryCharacters / limits.memoryCharacters;
    fold.add(recordedAt(other, 1, add('of another session')));
    for (let seq = 2; seq <= most + 1; seq++) fold.add(recordedAt(ours, seq, add(seq === 3 ? 'short' : long)));
    expect(fold.takeNews().gone).toEqual([]);
    fold.add(recordedAt(ours, most + 2, update('3-0', long)));
    expect(fold.takeNews().gone).toEqual([]);
    fold.add(recordedAt(ours, most + 3, add('one more')));
    expect(fold.takeNews().gone).toEqual(['2-0']);
    fold.add(recordedAt(ours, most + 4, forget('3-0'), add(long)));
    expect(fold.takeNews().gone).toEqual(['3-0']);
  });

  test('C9: also of one that was changed very often it is known which sessions had a part in it', () => {
    const fold = new MemoryFold();
    fold.add(recordedAt(ours, 5, add('a', person)));
    fold.add(recordedAt(other, 6, update('5-0', 'b')));
    for (let seq = 7; seq < 100; seq++) fold.add(recordedAt(ours, seq, update('5-0', `${seq}`)));
    expect([...fold.entries()][0]?.changes).toHaveLength(limits.memoryPlaces);
    const next = new MemoryFold(fold.takeNews().entries);
    next.add(recordedAt(other, 100, deleted('erased')));
    expect(next.size).toBe(0);
  });

  test('I11: of one scope the oldest goes when there are too many', () => {
    const fold = new MemoryFold();
    for (let seq = 1; seq <= limits.scopeMemories + 2; seq++) fold.add(recordedAt(ours, seq, add('a')));
    expect(fold.size).toBe(limits.scopeMemories);
    expect(fold.takeNews().gone).toEqual(['1-0', '2-0']);
  });

  test('I11: when the log is read anew, what is gone takes the place of nothing', () => {
    const history = Array.from({ length: limits.scopeMemories + 2 }, (_, at) => recordedAt(ours, at + 1, add('a')));
    history.push(recordedAt(ours, limits.scopeMemories + 3, forget('5-0')));
    const first = new MemoryFold();
    for (const commit of history) first.add(commit);
    const { entries, gone } = first.takeNews();
    const again = new MemoryFold(entries, gone);
    for (const commit of history) again.add(commit);
    expect(again.takeNews().gone).toEqual([]);
    expect(again.size).toBe(limits.scopeMemories - 1);
  });
});

test('whatever is asked of a session, no commit that changes the memory is overlooked', () => {
  const allRead = (read: readonly string[]) => (wishes: readonly Intent[]) => {
    for (const { events } of play(wishes).commits) {
      if (events.some(({ type }) => type === 'memory_changed' || type === 'session_deleted')) {
        expect(read).toContain(headlineOf(events));
      }
    }
  };
  const without = (gone: string) => allRead(memoryHeadlines.filter((type) => type !== gone));
  holds(
    intents,
    allRead(memoryHeadlines),
    { 'no deletions': without('session_deleted'), 'no introspections': without('introspected') },
    200,
  );
  const { commits } = tell('post m1', 'call m1/1 1 memory_add run', 'remember m1/1 m1.1.0', 'forget 4-0', 'introspect 1 1');
  for (const { events } of commits.slice(2)) expect(memoryHeadlines).toContain(headlineOf(events));
});
