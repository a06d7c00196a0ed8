import { describe, expect, test } from 'vitest';
import { type ChainBreak, chainBreak, chainStart, linkAfter } from '../../../../shared/domain/session/chain.ts';
import type { Commit, RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { fold, initialState } from '../../../../shared/domain/session/fold/evolve.ts';
import { decodeCommit, encodeCommit } from '../../../../shared/wire/codec.ts';
import { recorded, unrecorded } from '../../../support/domain/commits.ts';
import { tell } from '../../../support/domain/given.ts';

const { commits } = tell('append m1', 'append m2', 'append m3', 'append m4');
/** What a reader finds when it compares each commit with the one before. */
const breaksOf = (history: readonly RecordedCommit[]): (ChainBreak | null)[] => {
  let last = chainStart;
  return history.map((commit) => {
    const found = chainBreak(last, commit);
    last = linkAfter(last, commit);
    return found;
  });
};
const changed = (commit: RecordedCommit, change: Partial<Commit>): RecordedCommit =>
  recorded({ ...unrecorded(commit), ...change }, commit.seq, commit.recordedAt);
const without = (index: number): RecordedCommit[] => commits.filter((_, at) => at !== index);
const withOther = (index: number, change: Partial<Commit>): RecordedCommit[] =>
  commits.map((commit, at) => (at === index ? changed(commit, change) : commit));
const intact = [null, null, null, null];

describe('I3, F13: the chain of commits', () => {
  test.each<[string, readonly RecordedCommit[], (ChainBreak | null)[]]>([
    ['as it was written', commits, intact],
    ['without a commit in the middle', without(1), [null, 'missing', null]],
    ['without the first', without(0), ['missing', null, null]],
    ['with one byte of a commit changed', withOther(1, { actor: 'user:eve' }), [null, null, 'changed', null]],
    ['with a commit of another history', withOther(2, { prev: 'x'.repeat(22) }), [null, null, 'changed', 'changed']],
    ['with a commit twice', [...commits.slice(0, 2), ...commits.slice(1)], [null, null, 'repeated', null, null]],
    [
      'with two in another order',
      [0, 2, 1, 3].map((at) => commits[at] as RecordedCommit),
      [null, 'missing', 'repeated', 'missing'],
    ],
    ['with a commit that names none', withOther(3, { v: 1, prev: undefined }), [null, null, null, 'unchained']],
  ])('%s', (_, history, breaks) => {
    expect(breaksOf(history)).toEqual(breaks);
    const folding = () => history.reduce(fold, initialState);
    if (breaks.every((found) => found === null)) expect(folding().position.rev).toBe(4);
    else expect(folding).toThrow('(I3)');
  });

  test('begins with the first commit that has a digest: the history before it is as an older version wrote it', () => {
    const old = commits.slice(0, 2).map((commit) => changed(commit, { v: 1, prev: undefined }));
    const third = changed(commits[2] as RecordedCommit, { prev: old[1]?.digest ?? null });
    const fourth = changed(commits[3] as RecordedCommit, { prev: third.digest });
    expect(breaksOf([...old, third, fourth])).toEqual(intact);
    expect(breaksOf([old[0] as RecordedCommit, changed(old[1] as RecordedCommit, { actor: 'eve' }), third, fourth])[2]).toBe(
      'changed',
    );
    expect(breaksOf([...old, third, changed(fourth, { v: 1, prev: undefined })])[3]).toBe('unchained');
  });

  test('C9: goes on over an erasure, which names the last commit that it removed', () => {
    const { commits: erased } = tell('append m1', 'append m2', 'delete erased', 'append m3');
    expect(breaksOf(erased)).toEqual(intact);
    expect(breaksOf(erased.slice(2))).toEqual([null, null]);
    expect(erased[2]?.prev).toBe(erased[1]?.digest);
  });

  test('is over the bytes that are stored', () => {
    const [first, second] = commits.map((commit) => encodeCommit(unrecorded(commit)));
    expect(decodeCommit(first as Uint8Array, 1, 1).digest).toBe(decodeCommit(second as Uint8Array, 2, 2).prev);
  });

  test.each([
    ['version 2 without prev', { v: 2, prev: undefined }],
    ['version 1 with prev', { v: 1, prev: null }],
    ['a digest of another length', { prev: 'abc' }],
  ] as const)('%s is neither written nor read', (_, change) => {
    expect(() => encodeCommit({ ...unrecorded(commits[1] as RecordedCommit), ...change })).toThrow(/^prev: /);
  });
});
