import { Packr, Unpackr } from 'msgpackr';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Commit, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventType } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { EventLog, FollowOptions } from '../../../shared/ports/event-log.ts';
import {
  assistantMessage,
  commitTo,
  freshKey,
  keyOf,
  recorded,
  sessionDeactivated,
  turnStarted,
  userMessage,
} from '../../support/domain/commits.ts';

/** An event log to be tested, and what a test cannot do through the port. */
export interface LogUnderTest {
  readonly log: EventLog;
  /** Sequences of the messages the log called bad. */
  readonly bad: readonly number[];
  /** Stores any bytes, as a stranger with the right to publish could. Resolves with their sequence. */
  storeRaw(headline: EventType, key: SessionKey, data: Uint8Array): Promise<number>;
  /** What is on the wire: subject, headers and bytes of a stored message; absent in memory. */
  wire?(seq: number): Promise<{ subject: string; headers: Record<string, string>; data: Uint8Array }>;
  close(): Promise<void>;
}

/** What every event log does (F4). */
export const eventLogContract = (name: string, create: () => Promise<LogUnderTest>): void => {
  describe(`event log: ${name}`, () => {
    let underTest: LogUnderTest;
    let log: EventLog;
    beforeAll(async () => {
      underTest = await create();
      ({ log } = underTest);
    });
    afterAll(() => underTest?.close());

    describe('append (F3, F14)', () => {
      test('stores a commit when the expected sequence is the last of the key, 0 for none', async () => {
        const key = freshKey();
        const { lastSeq } = await log.info();
        const digest = expect.stringMatching(/^[\w-]{22}$/);
        expect(await log.append(commitTo(key), 0)).toEqual({ kind: 'stored', seq: lastSeq + 1, digest });
        const second = await log.append(commitTo(key, { rev: 2 }), lastSeq + 1);
        expect(second).toEqual({ kind: 'stored', seq: lastSeq + 2, digest });
        expect(await log.last(key)).toMatchObject({ seq: lastSeq + 2, digest: 'digest' in second && second.digest, key, rev: 2 });
      });

      test('gives back exactly what was appended, with its sequence and the time the log stored it', async () => {
        const key = freshKey();
        const commit = commitTo(key, { events: [turnStarted(), assistantMessage('héllo 🌍')] });
        const seq = await stored(log, commit, 0);
        const last = await log.last(key);
        expect(last).toEqual({ ...recorded(commit, seq), recordedAt: expect.any(Number) });
        expect(Math.abs((last?.recordedAt ?? 0) - Date.now())).toBeLessThan(60_000);
      });

      test('does not store a commit whose expectation is wrong, and says only that it does not know', async () => {
        const key = freshKey();
        const seq = await stored(log, commitTo(key), 0);
        expect(await log.append(commitTo(key, { rev: 2 }), 0)).toMatchObject({ kind: 'unknown', cause: expect.any(String) });
        expect(await log.append(commitTo(key, { rev: 2 }), seq + 1_000)).toMatchObject({ kind: 'unknown' });
        expect(await revsOf(log, key)).toEqual([1]);
      });

      test('tells the newest message of all keys under a headline, and of no other headline', async () => {
        const [one, other] = [freshKey(), freshKey()];
        await stored(log, commitTo(one, { events: [sessionDeactivated()] }), 0);
        const seq = await stored(log, commitTo(other, { events: [sessionDeactivated()] }), 0);
        await stored(log, commitTo(one, { rev: 2, events: [userMessage('hi')] }), seq - 1);
        expect(await log.newest('session_deactivated')).toMatchObject({ key: other, seq });
        expect(await log.newest('history_damaged')).toBeNull();
      });

      test('fences a key across all headlines', async () => {
        const key = freshKey();
        await stored(log, commitTo(key, { events: [userMessage('hi')] }), 0);
        expect(await log.append(commitTo(key, { events: [sessionDeactivated()] }), 0)).toMatchObject({ kind: 'unknown' });
        expect(await revsOf(log, key)).toEqual([1]);
      });

      test('does not let a key fence one that begins like it', async () => {
        const short = freshKey();
        const long = keyOf(`${short}:telegram`);
        await stored(log, commitTo(short), 0);
        await stored(log, commitTo(long), 0);
        expect((await log.last(short))?.key).toBe(short);
        expect((await log.last(long))?.key).toBe(long);
        expect(await revsOf(log, short)).toEqual([1]);
      });

      test('lets exactly one of many concurrent writers win; last tells the losers who', async () => {
        const key = freshKey();
        const commits = [...Array(8)].map(() => commitTo(key));
        const results = await Promise.all(commits.map((commit) => log.append(commit, 0)));
        const winners = commits.filter((_, index) => results[index]?.kind === 'stored');
        expect(winners.length).toBe(1);
        expect(results.filter(({ kind }) => kind === 'unknown')).toHaveLength(7);
        expect((await log.last(key))?.id).toBe(winners[0]?.id);
      });

      test('never stores a repeated commit twice, and last shows that it is ours', async () => {
        const key = freshKey();
        const commit = commitTo(key);
        const seq = await stored(log, commit, 0);
        const { digest } = recorded(commit, seq);
        const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
        for (const again of [commit, { ...commit, traceparent }]) {
          expect(await log.append(again, 0)).toMatchObject({ kind: 'unknown' });
          expect(await log.last(key)).toMatchObject({ id: commit.id, seq, digest });
        }
        expect(await revsOf(log, key)).toEqual([1]);
      });

      test('refuses a commit that is too large or could not be read back, and stores nothing', async () => {
        const key = freshKey();
        const large = commitTo(key, { events: [...Array(4)].map(() => userMessage('x'.repeat(250_000))) });
        expect(await log.append(large, 0)).toMatchObject({ kind: 'refused', message: expect.stringContaining('bytes') });
        const wrong = commitTo(key, { events: [{ type: 'xstate.stop' } as never] });
        expect(await log.append(wrong, 0)).toMatchObject({ kind: 'refused' });
        expect(await log.append(commitTo(key, { events: [] }), 0)).toMatchObject({ kind: 'refused' });
        expect(await log.last(key)).toBeNull();
      });

      test.each([
        'agent:main:matrix:group:!abc.def@example.org',
        'agent:main:irc:group:#ubuntu',
        'agent:main:web:a/b?c=d&e',
        'agent:main:telegram:group:-100123_4',
        'Agent:MAIN:ünïcødé:日本語:🦫',
        'agent:main:dots:...',
      ])('takes the key %s byte by byte', async (text) => {
        const key = keyOf(text);
        const { lastSeq } = await log.info();
        const seq = await stored(log, commitTo(key), 0);
        expect(await log.last(key)).toMatchObject({ key, seq });
        expect((await first(log, { after: lastSeq, key }, 1)).map((commit) => commit.seq)).toEqual([seq]);
        expect(await log.last(keyOf(`${text}x`))).toBeNull();
      });
    });

    describe('reading', () => {
      test('reads a range of a key, oldest first: after < seq <= upTo', async () => {
        const key = freshKey();
        const seqs = await appendMany(log, key, 6, freshKey());
        const [, second = 0, , fourth = 0] = seqs;
        await eventually(async () => expect(await revsOf(log, key)).toEqual([1, 2, 3, 4, 5, 6]));
        expect(await revsOf(log, key, { after: second })).toEqual([3, 4, 5, 6]);
        expect(await revsOf(log, key, { upTo: fourth })).toEqual([1, 2, 3, 4]);
        expect(await revsOf(log, key, { after: second, upTo: fourth })).toEqual([3, 4]);
        expect(await revsOf(log, key, { after: second, upTo: second + 1 })).toEqual([]);
        expect(await revsOf(log, freshKey())).toEqual([]);
      });

      test('reads the commits of a key that are far apart among those of others', async () => {
        const key = freshKey();
        const seqs: number[] = [];
        for (let rev = 1; rev <= 4; rev++) {
          seqs.push(await stored(log, commitTo(key, { rev }), seqs.at(-1) ?? 0));
          await Promise.all([...Array(300)].map(() => stored(log, commitTo(freshKey()), 0)));
        }
        const [first = 0, second = 0, , upTo = 0] = seqs;
        const read = (after: number) => revsOf(log, key, { after, upTo });
        await eventually(async () => expect(await read(0)).toEqual([1, 2, 3, 4]));
        expect(await Promise.all([read(first), read(second + 50), read(second)])).toEqual([
          [2, 3, 4],
          [3, 4],
          [3, 4],
        ]);
        expect(await revsOf(log, key, { upTo: upTo + 100 })).toEqual([1, 2, 3, 4]);
      });

      test('reads more commits than fit into one batch, without a gap, and in one page as many as are asked for', async () => {
        const key = freshKey();
        await appendMany(log, key, 600);
        const all = [...Array(600)].map((_, index) => index + 1);
        await eventually(async () => expect(await revsOf(log, key)).toEqual(all));
        expect((await log.page({ after: 0, limit: 599, key })).commits.map(({ rev }) => rev)).toEqual(all.slice(0, 599));
      });

      test('pages through the log and says whether more follows', async () => {
        const { lastSeq } = await log.info();
        const [a, b] = [freshKey(), freshKey()];
        await appendMany(log, a, 3, b);
        await eventually(async () => {
          const whole = await log.page({ after: lastSeq, limit: 100 });
          expect(whole.commits.map(({ key, rev }) => [key, rev])).toEqual([
            [a, 1],
            [b, 1],
            [a, 2],
            [b, 2],
            [a, 3],
            [b, 3],
          ]);
          expect(whole.more).toBe(false);
          const part = await log.page({ after: lastSeq, limit: 4 });
          expect(part.commits).toHaveLength(4);
          expect(part.more).toBe(true);
          const rest = await log.page({ after: part.commits.at(-1)?.seq ?? 0, limit: 2 });
          expect(rest).toEqual({ commits: whole.commits.slice(4), more: false });
          const one = await log.page({ after: lastSeq, limit: 1, key: b });
          expect(one.commits.map(({ key, rev }) => [key, rev])).toEqual([[b, 1]]);
          expect(one.more).toBe(true);
        });
        expect(await log.page({ after: (await log.info()).lastSeq, limit: 10 })).toEqual({ commits: [], more: false });
      });

      test('describes the log: its ends and which life of it this is', async () => {
        const before = await log.info();
        const seq = await stored(log, commitTo(freshKey()), 0);
        const after = await log.info();
        expect(after).toEqual({ firstSeq: 1, lastSeq: seq, incarnation: before.incarnation });
        expect(before.incarnation).toBeGreaterThan(0);
      });
    });

    describe('follow (ADR 2)', () => {
      test('gives history and then live commits, in order, each once', async () => {
        const { lastSeq } = await log.info();
        const key = freshKey();
        await appendMany(log, key, 300);
        const following = first(log, { after: lastSeq }, 400);
        await appendMany(log, key, 100, undefined, 300);
        expect((await following).map(({ rev }) => rev)).toEqual([...Array(400)].map((_, index) => index + 1));
      });

      test('hears of a commit at once, long before its poll', async () => {
        const { lastSeq } = await log.info();
        const key = freshKey();
        const seen: number[] = [];
        const following = first(log, { after: lastSeq }, 20, (commit) => seen.push(commit.rev));
        const startedAt = performance.now();
        let seq = 0;
        for (let rev = 1; rev <= 20; rev++) {
          seq = await stored(log, commitTo(key, { rev }), seq);
          await vi.waitFor(() => expect(seen).toContain(rev), { interval: 1 });
        }
        await following;
        expect(performance.now() - startedAt).toBeLessThan(10_000); // Twenty polls would take twenty seconds.
      });

      test('gives only one key, or only some headlines, when asked', async () => {
        const { lastSeq } = await log.info();
        const [a, b] = [freshKey(), freshKey()];
        const events = [[userMessage('u')], [assistantMessage('a')], [sessionDeactivated()], [assistantMessage('b')]];
        for (const key of [a, b]) {
          let seq = 0;
          for (const [index, list] of events.entries())
            seq = await stored(log, commitTo(key, { rev: index + 1, events: list }), seq);
        }
        const pick = async (options: Omit<FollowOptions, 'signal' | 'after'>, count: number) =>
          (await first(log, { after: lastSeq, ...options }, count)).map(({ key, rev }) => `${key === a ? 'a' : 'b'}${rev}`);
        expect(await pick({ key: b }, 4)).toEqual(['b1', 'b2', 'b3', 'b4']);
        expect(await pick({ headlines: ['assistant_message'] }, 4)).toEqual(['a2', 'a4', 'b2', 'b4']);
        expect(await pick({ headlines: ['assistant_message', 'session_deactivated'] }, 6)).toEqual([
          'a2',
          'a3',
          'a4',
          'b2',
          'b3',
          'b4',
        ]);
        expect(await pick({ key: a, headlines: ['session_deactivated'] }, 1)).toEqual(['a3']);
        expect(await pick({ key: a, headlines: ['user_message', 'session_deactivated'] }, 2)).toEqual(['a1', 'a3']);
      });

      test('reads in batches when asked to pause', async () => {
        const { lastSeq } = await log.info();
        const key = freshKey();
        const following = first(log, { after: lastSeq, pauseMs: 100 }, 200);
        await appendMany(log, key, 200);
        expect((await following).map(({ rev }) => rev)).toEqual([...Array(200)].map((_, index) => index + 1));
      });

      test('ends when the signal aborts', async () => {
        const { lastSeq } = await log.info();
        const stop = new AbortController();
        const following = collect(log, { after: lastSeq, signal: stop.signal });
        stop.abort();
        expect(await following).toEqual([]);
      });

      test('says so when the log ends before the position it is to follow from (I13)', async () => {
        const { lastSeq } = await log.info();
        await expect(first(log, { after: lastSeq + 1_000 }, 1)).rejects.toMatchObject({ code: 'log_regressed' });
      });
    });

    describe('hostile bytes (F17)', () => {
      const hostile: readonly (readonly [string, (key: SessionKey) => Uint8Array])[] = [
        ['nothing', () => new Uint8Array(0)],
        ['the byte that is never used', () => Uint8Array.of(0xc1)],
        ['text', () => Buffer.from('{"v":1}')],
        ['a map bomb', () => Uint8Array.of(0xdf, 0xff, 0xff, 0xff, 0xff)],
        ['a commit of another key', () => encodePlain(commitTo(freshKey()))],
        ['an unknown event', (key) => encodePlain({ ...commitTo(key), events: [{ type: 'xstate.stop', v: 1 }] })],
      ];
      test.each(hostile)('%s quarantines its key and stops nobody else', async (_, bytes) => {
        const { lastSeq } = await log.info();
        const [victim, other] = [freshKey(), freshKey()];
        const good = await stored(log, commitTo(victim), 0);
        const seq = await underTest.storeRaw('user_message', victim, bytes(victim));
        const after = await stored(log, commitTo(other), 0);

        const following = await first(log, { after: lastSeq }, 2);
        expect(following.map((commit) => commit.seq)).toEqual([good, after]);
        expect((await log.page({ after: lastSeq, limit: 10 })).commits.map((commit) => commit.seq)).toEqual([good, after]);
        expect(underTest.bad).toContain(seq);
        const problem = { code: 'quarantined', message: expect.stringContaining(`${seq} of ${victim}`) };
        await expect(revsOf(log, victim)).rejects.toMatchObject(problem);
        await expect(log.last(victim)).rejects.toMatchObject(problem);
        expect(await revsOf(log, other)).toEqual([1]);
      });

      test('a page of nothing but bad messages does not hide what follows', async () => {
        const { lastSeq } = await log.info();
        for (let i = 0; i < 3; i++) await underTest.storeRaw('user_message', freshKey(), Uint8Array.of(0xc1));
        const seq = await stored(log, commitTo(freshKey()), 0);
        await eventually(async () => expect((await log.page({ after: lastSeq, limit: 2 })).commits).toMatchObject([{ seq }]));
      });
    });

    describe('many appends at once (ADR 23)', () => {
      /** Appends at once, one commit for each; as a host, each that is unknown is looked up and tried again. */
      const atOnce = (commits: readonly Commit[]): Promise<number[]> =>
        Promise.all(commits.map((commit) => stored(log, commit, 0)));
      const keys = (count: number): Commit[] => [...Array(count)].map(() => commitTo(freshKey()));

      test('each is stored once, under the sequence and the digest that it is told, and reaches every follower', async (context) => {
        const { lastSeq } = await log.info();
        const commits = keys(300);
        const [one] = commits.slice(-1);
        if (one === undefined) throw new Error('no commit');
        const following = first(log, { after: lastSeq }, commits.length);
        const ofOne = first(log, { after: lastSeq, key: one.key }, 1);
        const results = await Promise.all(commits.map((commit) => log.append(commit, 0)));
        const told = results.map((result, index) => ({ ...result, id: commits[index]?.id }));
        const inOrder = (await following).map(({ seq, digest, id }) => ({ kind: 'stored', seq, digest, id }));
        expect(told.toSorted((a, b) => ('seq' in a && 'seq' in b ? a.seq - b.seq : 0))).toEqual(inOrder);
        expect(inOrder.map(({ seq }) => seq)).toEqual([...Array(300)].map((_, index) => lastSeq + 1 + index));
        expect(await ofOne).toMatchObject([{ id: one.id }]);
        if (underTest.wire === undefined) return context.skip('there is no wire in memory');
        const headers = await Promise.all(inOrder.map(async ({ seq }) => (await underTest.wire?.(seq))?.headers ?? {}));
        expect(headers.filter((each) => 'Nats-Batch-Id' in each).length).toBeGreaterThan(200);
      });

      test('a wrong expectation harms none but its own commit', async () => {
        const fenced = commitTo(freshKey());
        await stored(log, commitTo(fenced.key), 0);
        const never = commitTo(freshKey());
        const [before, after] = [keys(40), keys(40)];
        const writing = atOnce(before);
        const wrong = [log.append(fenced, 0), log.append(never, 999_999)];
        await Promise.all([writing, atOnce(after)]);
        for (const result of wrong) expect(await result).toMatchObject({ kind: 'unknown' });
        expect(await revsOf(log, fenced.key)).toEqual([1]);
        expect((await log.last(fenced.key))?.id).not.toBe(fenced.id);
        expect(await log.last(never.key)).toBeNull();
        for (const { key, id } of [...before, ...after]) expect(await log.last(key)).toMatchObject({ id, rev: 1 });
      });

      test('two commits of one key never go together: one of them wins, whatever their headlines', async () => {
        const key = freshKey();
        const rivals = [...Array(6)].map((_, index) =>
          commitTo(key, { events: [index % 2 === 0 ? userMessage('hi') : sessionDeactivated()] }),
        );
        const others = keys(40);
        const results = rivals.map((commit) => log.append(commit, 0));
        await atOnce(others);
        expect((await Promise.all(results)).filter(({ kind }) => kind === 'stored')).toHaveLength(1);
        expect(await log.count(key)).toBe(1);
      });

      test('a commit that is stored already is not stored again, and does not keep others out', async () => {
        const again = commitTo(freshKey());
        const seq = await stored(log, again, 0);
        const [repeat] = await Promise.all([log.append(again, 0), atOnce(keys(40))]);
        expect(repeat).toMatchObject({ kind: 'unknown' });
        expect(await log.last(again.key)).toMatchObject({ id: again.id, seq });
        expect(await log.count(again.key)).toBe(1);
      });

      test('large commits go with small ones, and one that is too large is refused alone', async () => {
        const text = (characters: number): Commit => commitTo(freshKey(), { events: [userMessage('x'.repeat(characters))] });
        const large = [...Array(8)].map(() => text(200_000));
        const tooLarge = commitTo(freshKey(), { events: [...Array(4)].map(() => userMessage('x'.repeat(250_000))) });
        const refused = log.append(tooLarge, 0);
        const seqs = await atOnce([...keys(20), ...large, ...keys(20)]);
        expect(new Set(seqs).size).toBe(48);
        expect(await refused).toMatchObject({ kind: 'refused' });
        for (const { key, id } of large) expect(await log.last(key)).toMatchObject({ id });
      });
    });

    test('writes plain MessagePack with CloudEvents headers, under a subject by headline and key', async (context) => {
      if (underTest.wire === undefined) return context.skip('there is no wire in memory');
      const key = keyOf('agent:main:irc:group:#ub.untu');
      const commit = commitTo(key, { events: [turnStarted(), assistantMessage('hello')] });
      const { subject, headers, data } = await underTest.wire(await stored(log, commit, 0));
      expect(subject).toMatch(/\.event\.assistant_message\.agent\.main\.irc\.group\.%23ub%2Euntu$/);
      expect(new Unpackr({ useRecords: false }).unpack(data)).toEqual(commit);
      expect(headers).toMatchObject({
        'ce-specversion': '1.0',
        'ce-id': commit.id,
        'ce-type': 'natter.assistant_message',
        'ce-time': new Date(commit.at).toISOString(),
        'ce-subject': encodeURIComponent(key),
        'content-type': 'application/msgpack',
        'Nats-Msg-Id': commit.id,
      });
    });
  });
};

/**
 * What a session host does with an unknown result: ask the leader, and try the same commit again if it is not there (10164 comes without a
 * competitor too). Resolves with the commit's sequence.
 */
export const stored = async (log: EventLog, commit: Commit, expectedSeq: number, onUnknown = () => {}): Promise<number> => {
  for (;;) {
    const result = await log.append(commit, expectedSeq);
    if (result.kind === 'stored') return result.seq;
    if (result.kind === 'refused') throw new Error(result.message);
    onUnknown();
    const last = await log.last(commit.key).catch(() => null);
    if (last?.id === commit.id) return last.seq;
    expect(last?.seq ?? expectedSeq).toBe(expectedSeq);
    await systemClock.sleep(20);
  }
};

/** Appends commits with rising `rev` to a key, in turn with those to another if there is one. Resolves with the key's sequences. */
export const appendMany = async (
  log: EventLog,
  key: SessionKey,
  count: number,
  other?: SessionKey,
  from = 0,
): Promise<number[]> => {
  const seqs: number[] = [];
  let last = from === 0 ? 0 : ((await log.last(key))?.seq ?? 0);
  let lastOfOther = 0;
  for (let rev = from + 1; rev <= from + count; rev++) {
    last = await stored(log, commitTo(key, { rev }), last);
    seqs.push(last);
    if (other) lastOfOther = await stored(log, commitTo(other, { rev }), lastOfOther);
  }
  return seqs;
};

export const revsOf = async (log: EventLog, key: SessionKey, range?: { after?: number; upTo?: number }): Promise<number[]> => {
  const revs: number[] = [];
  for await (const commit of log.read(key, range)) revs.push(commit.rev);
  return revs;
};

/** Follows until `count` commits have come. */
export const first = async (
  log: EventLog,
  options: Omit<FollowOptions, 'signal'>,
  count: number,
  onCommit: (commit: RecordedCommit) => void = () => {},
): Promise<RecordedCommit[]> => {
  const stop = new AbortController();
  return collect(log, { ...options, signal: stop.signal }, (commit, soFar) => {
    onCommit(commit);
    if (soFar === count) stop.abort();
  });
};

const collect = async (
  log: EventLog,
  options: FollowOptions,
  onCommit: (commit: RecordedCommit, soFar: number) => void = () => {},
): Promise<RecordedCommit[]> => {
  const commits: RecordedCommit[] = [];
  for await (const commit of log.follow(options)) {
    commits.push(commit);
    onCommit(commit, commits.length);
  }
  return commits;
};

/** MessagePack by another writer, which checks nothing. */
const encodePlain = (value: unknown): Uint8Array => new Packr({ useRecords: false }).pack(value);

/** `read` and `page` may lag behind what was just appended. */
const eventually = (assertion: () => Promise<void>): Promise<void> => vi.waitFor(assertion, { interval: 20 });
