import { expect, test } from 'vitest';
import { type LogView, type LogWitness, regression } from '../../../../shared/domain/session/log-witness.ts';

const seen: LogWitness = { incarnation: 1, seq: 5, digest: 'five' };
const now: LogView = { incarnation: 1, lastSeq: 9, digest: 'five' };

test.each<[string, LogWitness, LogView, RegExp | null]>([
  ['the same log, longer', seen, now, null],
  ['the same log, as long', seen, { ...now, lastSeq: 5 }, null],
  ['a shorter log', seen, { ...now, lastSeq: 4, digest: null }, /ends at 4, but had reached 5/],
  ['a log created anew', seen, { ...now, incarnation: 2 }, /recreated; it had reached 5/],
  ['another commit at that place', seen, { ...now, digest: 'other' }, /exchanged: 5 is another commit/],
  ['an erased commit at that place', seen, { ...now, digest: null }, null],
  ['a witness without a digest', { ...seen, digest: null }, { ...now, digest: 'other' }, null],
  ['a witness of an older version', { ...seen, incarnation: null }, { ...now, incarnation: 2 }, null],
  ['nothing seen, and a log created anew', { ...seen, seq: 0, digest: null }, { ...now, incarnation: 2, lastSeq: 0 }, null],
])('%s', (_, witness, view, problem) => {
  if (problem === null) expect(regression(witness, view)).toBeNull();
  else expect(regression(witness, view)).toMatch(problem);
});
