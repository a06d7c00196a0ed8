import { describe, expect, test } from 'vitest';
import { LogCheck } from '../../../../services/cli/backup/log-check.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { encodeCommit } from '../../../../shared/wire/codec.ts';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';
import { commitTo, keyOf, recorded, unrecorded } from '../../../support/domain/commits.ts';

const subjects = subjectsUnder('natter');
const [ann, bob] = [keyOf('agent:main:ann'), keyOf('agent:main:bob')];
interface Stored {
  readonly subject: string;
  readonly data: Uint8Array;
}
const stored = (commit: RecordedCommit): Stored => ({
  subject: subjects.event('user_message', commit.key),
  data: encodeCommit(unrecorded(commit)),
});
const breaksOf = (...messages: readonly Stored[]): readonly string[] => {
  const check = new LogCheck(subjects);
  for (const [index, message] of messages.entries()) check.take({ ...message, seq: index + 1, time: 0 });
  return check.result().breaks;
};
/** Revs 1 and 3. */
const withHole = (key: SessionKey): RecordedCommit[] => [
  recorded(commitTo(key, { v: 2, prev: null }), 1),
  recorded(commitTo(key, { v: 2, rev: 3, prev: 'A'.repeat(22) }), 2),
];
/** Rev 4: a person has decided. */
const decision = (prev: string): RecordedCommit => {
  const damage = { damage: 'missing', fromRev: 2, toRev: 2, by: 'token:api', reason: 'no backup' } as const;
  const event = { type: 'history_damaged', v: 1, ...damage, sessionId: 'session-1', generation: 1, epoch: 0 } as const;
  return recorded(commitTo(ann, { v: 2, rev: 4, prev, events: [event] }), 3);
};

describe('F13: what a backup says of the log', () => {
  test('a commit that is missing is a break, until a person has decided about it (natter repair)', () => {
    const [first, third] = withHole(ann) as [RecordedCommit, RecordedCommit];
    const others = withHole(bob).map(stored);
    const ofBob = 'commit 2 (rev 3) of agent:main:bob after rev 1: missing';
    expect(breaksOf(...others, stored(first), stored(third))).toEqual([
      ofBob,
      'commit 4 (rev 3) of agent:main:ann after rev 1: missing',
    ]);
    expect(breaksOf(...others, stored(first), stored(third), stored(decision(third.digest)))).toEqual([ofBob]);
  });

  test('I13: a place that `natter log accept` has given up is none, any other message that is no commit is one', () => {
    const data = new Uint8Array();
    expect(breaksOf({ subject: subjects.lost, data })).toEqual([]);
    const other = breaksOf({ subject: subjects.event('user_message', ann), data });
    expect(other).toEqual([expect.stringContaining('message 1 of agent:main:ann is not a commit')]);
  });
});
