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
const scrubbed = (log: Pick<EventLog, 'raw' | 'last'>, sessions?: number, rows?: Parameters<typeof scrubLog>[1]['rows']) =>
  scrubLog(log, {
    ...{ upTo: Number.MAX_SAFE_INTEGER, signal: new AbortController().signal, paced: () => {} },
    ...(sessions !== undefined && { sessions }),
    ...(rows && { rows }),
  });

describe('I3, F13: a scrub of the log', () => {
  test('finds two whole sessions whole', async () => {
    const [a, b] = [historyOf(ann), historyOf(bob)];
    const mixed = a.flatMap((commit, index) => [commit, b[index] as RecordedCommit]);
    expect(await scrubbed(logOf(mixed))).toEqual({ commits: 8, sessions: 2, damages: [], differing: [], unerased: [] });
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

  test('a session that ends before its row of the index has lost its end, also one of which nothing is left; a replica that lags is asked for', async () => {
    const rowOf = (key: SessionKey, rev: number, seq = rev) => ({ key, seq, rev });
    const rows = () => [rowOf(ann, 4), rowOf(bob, 4)];
    const [whole, shorter] = [logOf(historyOf(ann)), logOf(historyOf(ann).slice(0, 2))];
    expect((await scrubbed(whole, undefined, () => [rowOf(ann, 4)])).damages).toEqual([]);
    for (const sessions of [undefined, 1])
      expect((await scrubbed(shorter, sessions, rows)).damages).toEqual([
        { key: ann, seq: 4, rev: 4, reason: 'missing' },
        { key: bob, seq: 4, rev: 4, reason: 'missing' },
      ]);
    const lagging = { raw: shorter.raw.bind(shorter), last: whole.last.bind(whole) };
    expect((await scrubbed(lagging, undefined, () => [rowOf(ann, 4)])).damages).toEqual([]);
    whole.kept.spoil(4);
    expect((await scrubbed(whole, undefined, () => [rowOf(ann, 4)])).damages).toMatchObject([{ key: ann, reason: 'missing' }]);
  });

  test('a row that is newer than what the scrub reads proves nothing', async () => {
    const log = logOf(historyOf(ann).slice(0, 2));
    const signal = new AbortController().signal;
    const found = await scrubLog(log, { upTo: 2, signal, paced: () => {}, rows: () => [{ key: ann, seq: 4, rev: 4 }] });
    expect(found.damages).toEqual([]);
  });

  test('C9: what was erased and is there again is named; what was erased for good is not', async () => {
    const { commits } = tell('append m1', 'append m2', 'delete erased', 'append m3');
    const own = (from: number): RecordedCommit[] => {
      let prev: string | null = null;
      return commits.slice(from).map((commit) => {
        const mine: RecordedCommit = recorded({ ...unrecorded(commit), key: ann, prev }, commit.seq);
        prev = mine.digest;
        return mine;
      });
    };
    expect(await scrubbed(logOf(own(2)))).toMatchObject({ damages: [], unerased: [] });
    expect(await scrubbed(logOf(own(0)))).toMatchObject({ damages: [], unerased: [ann] });
    const replicas = [logOf(own(0)), logOf(own(2))];
    let asked = 0;
    const either = {
      raw: (options: Parameters<EventLog['raw']>[0]) => (replicas[asked++ % 2] as EventLog).raw(options),
      last: async () => null,
    };
    expect((await scrubbed(either)).unerased).toEqual([]);
  });

  test('a session that another replica has whole is not damaged; one that none has is', async () => {
    const [whole, broken] = [historyOf(ann), historyOf(ann).filter((_, at) => at !== 1)];
    const replicas = [logOf(broken), logOf(broken), logOf(whole)];
    let asked = 0;
    const any = (logs: readonly EventLog[]): Pick<EventLog, 'raw' | 'last'> => ({
      last: (key) => (logs[0] as EventLog).last(key),
      raw: (options) => (logs[asked++ % logs.length] as EventLog).raw(options),
    });
    expect(await scrubbed(any(replicas))).toMatchObject({ damages: [], differing: [ann] });
    expect(await scrubbed(any(replicas.slice(0, 2)))).toMatchObject({ damages: [{ reason: 'missing', rev: 3 }], differing: [] });
  });
});
