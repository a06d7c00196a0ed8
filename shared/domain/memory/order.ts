import type { RecordedCommit } from '../session/envelope.ts';
import type { MemoryMark } from './memory-entry.ts';

/** The id of a memory added by a commit. All additions of a commit are numbered, including those without effect. */
export const memoryIdOf = ({ seq }: Pick<RecordedCommit, 'seq'>, number: number): string => `${seq}-${number}`;

/** The ids of all memories that a commit adds. */
export const memoryIdsOf = (commit: Pick<RecordedCommit, 'seq' | 'events'>): string[] =>
  commit.events
    .flatMap((event) => (event.type === 'memory_changed' ? event.changes.filter(({ op }) => op === 'add') : []))
    .map((_, number) => memoryIdOf(commit, number));

/** The sequence and the number in an id. */
const partsOf = (id: string): readonly [number, number] => {
  const [seq = '', number = ''] = id.split('-');
  return [Number(seq), Number(number)];
};

/** Compares by the order in which memories were added. */
export const byAge = ({ id: one }: { readonly id: string }, { id: other }: { readonly id: string }): number => {
  const [a, b] = [partsOf(one), partsOf(other)];
  return a[0] - b[0] || a[1] - b[1];
};

/** Compares by the last change, newest first. */
export const newestFirst = (one: MemoryMark, other: MemoryMark): number => other.source.seq - one.source.seq || byAge(other, one);
