import { describe, expect, test } from 'vitest';
import { InMemoryEventLog } from '../../../shared/adapters/in-memory/event-log.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { type Damage, scrubLog } from '../../../shared/runtime/scrub-log.ts';
import { encodeCommit } from '../../../shared/wire/codec.ts';
import { keyOf, recorded, unrecorded } from '../../support/domain/commits.ts';
import { tell } from '../../support/domain/given.ts';

const { commits: told } = tell('append m1', 'append m2', 'append m3', 'append m4');
/** The same history under another key: what it names is of its own bytes. */
const historyOf = (key: SessionKey): RecordedCommit[] => {
  let prev: string | null = null;
  return told.map((commit) => {
    const own: RecordedCommit = recorded({ ...unrecorded(commit), key, prev }, commit.seq);
    prev = own.digest;
    return own;
  });
};
const [ann, bob] = [keyOf('agent:main:ann'), keyOf('agent:main:bob')];
/** A log with these commits as they are, in this order. */
const logOf = (commits: readonly (RecordedCommit | Uint8Array)[], key = ann): InMemoryEventLog => {
  const log = new InMemoryEventLog({ clock: systemClock, semantics: 'R1' });
  for (const commit of commits)
    if (commit instanceof Uint8Array) log.storeRaw('user_message', key, commit);
    else log.storeRaw('user_message', commit.key, encodeCommit(unrecorded(commit)));
  return log;
};
const scrubbed = (log: Pick<EventLog, 'raw'>, sessions?: number) =>
  scrubLog(log, {
    ...{ upTo: Number.MAX_SAFE_INTEGER, signal: new AbortController().signal, paced: () => {} },
    ...(sessions !== undefined && { sessions }),
  });

describe('I3, F13: a scrub of the log', () => {
  test('finds two whole sessions whole', async () => {
    const [a, b] = [historyOf(ann), historyOf(bob)];
    const mixed = a.flatMap((commit, index) => [commit, b[index] as RecordedCommit]);
    expect(await scrubbed(logOf(mixed))).toEqual({ commits: 8, sessions: 2, damages: [], differing: [] });
  });

  test.each<[string, (history: readonly RecordedCommit[]) => (RecordedCommit | Uint8Array)[], Partial<Damage>[]]>([
    ['a commit is missing', ([a, , c, d]) => [a, c, d] as RecordedCommit[], [{ seq: 2, rev: 3, reason: 'missing' }]],
    [
      'a byte of a commit changed',
      ([a, b, c, d]) => [a, { ...b, actor: 'user:eve' }, c, d] as RecordedCommit[],
      [{ seq: 3, rev: 3, reason: 'changed' }],
    ],
    [
      'a message is no commit',
      ([a, b, c, d]) => [a, b, new Uint8Array([0xc1]), c, d] as RecordedCommit[],
      [{ seq: 3, rev: null, reason: 'unreadable' }],
    ],
  ])('%s: the session is damaged, and where', async (_, damage, expected) => {
    const { damages, commits } = await scrubbed(logOf(damage(historyOf(ann))));
    expect(damages).toMatchObject(expected.map((one) => ({ key: ann, ...one })));
    expect(commits).toBeGreaterThan(2);
  });

  test('I11: with more sessions than it may follow at once it reads the log several times, each session once', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => keyOf(`agent:main:person-${index}`));
    const log = logOf(keys.flatMap((key, index) => historyOf(key).filter((_, at) => index !== 7 || at !== 1)));
    expect(await scrubbed(log, 15)).toMatchObject({ commits: 159, sessions: 40, damages: [{ key: keys[7], reason: 'missing' }] });
  });

  test('a session that another replica has whole is not damaged; one that none has is', async () => {
    const [whole, broken] = [historyOf(ann), historyOf(ann).filter((_, at) => at !== 1)];
    const replicas = [logOf(broken), logOf(broken), logOf(whole)];
    let asked = 0;
    const any = (logs: readonly EventLog[]): Pick<EventLog, 'raw'> => ({
      raw: (options) => (logs[asked++ % logs.length] as EventLog).raw(options),
    });
    expect(await scrubbed(any(replicas))).toMatchObject({ damages: [], differing: [ann] });
    expect(await scrubbed(any(replicas.slice(0, 2)))).toMatchObject({ damages: [{ reason: 'missing', rev: 3 }], differing: [] });
  });
});
