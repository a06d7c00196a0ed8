import { expect, test } from 'vitest';
import { ChainWatch } from '../../../../shared/domain/session/chain-watch.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { tell } from '../../../support/domain/given.ts';

const [first, , third] = tell('append m1', 'append m2', 'append m3').commits as [RecordedCommit, RecordedCommit, RecordedCommit];
const ofSession = (commit: RecordedCommit, number: number): RecordedCommit => ({
  ...commit,
  key: `agent:main:${number}` as never,
});

test('F13: it knows at least so many sessions, those seen last, and at most twice as many', () => {
  const watch = new ChainWatch(10);
  for (let session = 0; session < 50; session++) expect(watch.take(ofSession(first, session))).toBeNull();
  const known = [...Array(50).keys()].filter((session) => watch.lastOf(ofSession(first, session).key) !== undefined);
  expect(known.slice(-10)).toEqual([...Array(50).keys()].slice(-10));
  expect(known.length).toBeLessThanOrEqual(20);
  expect(watch.take(ofSession(third, 49))?.reason).toBe('missing');
  expect(watch.take(ofSession(third, 0))).toBeNull();
});

test('F13: one that is seen again and again is not forgotten', () => {
  const watch = new ChainWatch(10);
  watch.take(first);
  for (let session = 0; session < 50; session++) {
    watch.take(ofSession(first, session));
    expect(watch.lastOf(first.key)).toBeDefined();
    if (session % 5 === 0) watch.begin(first.key);
  }
});
