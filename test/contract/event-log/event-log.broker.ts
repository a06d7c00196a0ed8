import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { NatsEventLog, type NatsEventLogOptions } from '../../../shared/adapters/nats/log/event-log.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { groupingOf } from '../../../shared/adapters/nats/publish/atomic-publisher.ts';
import { LogTail } from '../../../shared/adapters/streams/log-tail.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { streamNames, topologyOf } from '../../../shared/wire/topology.ts';
import { commitTo, freshKey } from '../../support/domain/commits.ts';
import { appendMany, first, type LogUnderTest, revsOf, stored } from './event-log.contract.ts';

const subjects = subjectsUnder('natter');
export const eventStream = streamNames(subjects.prefix).events;

/** A log on a real broker, with all it takes to misuse it. */
export const natsEventLog = async (servers: string, replicas: 1 | 3): Promise<LogUnderTest & { manager: JetStreamManager }> => {
  const connection = await openConnection({ servers, name: 'event log test', requestTimeoutMs: 5_000 });
  const topology = topologyOf(subjects, { replicas, partitions: 1 });
  const events = topology.streams.filter(({ name }) => name === eventStream);
  const { drift } = await provision(connection, { ...topology, streams: events, consumers: [] });
  expect(drift).toEqual([]);
  const manager = await jetstreamManager(connection);
  const bad: number[] = [];
  return {
    log: logOn(connection, { replicas, requestTimeoutMs: 5_000, onBad: ({ seq }) => bad.push(seq) }),
    bad,
    manager,
    storeRaw: async (headline, key, data) =>
      (await manager.jetstream().publish(subjects.event(headline, key), data, { headers: misleadingHeaders() })).seq,
    wire: async (seq) => {
      const message = await manager.streams.getMessage(eventStream, { seq });
      if (message === null) throw new Error(`no message ${seq}`);
      const named = Object.fromEntries([...message.header].map(([name, values]) => [name, values.join()]));
      return { subject: message.subject, headers: named, data: message.data };
    },
    close: () => connection.close(),
  };
};

/** A broker that a test may break. On R3 all of it concerns the node that leads the event stream. */
export interface BreakableBroker {
  readonly servers: string;
  readonly replicas: 1 | 3;
  /** SIGSTOP; resolves with what ends it. */
  pause(): Promise<() => void>;
  /** kill -9; resolves with what starts it again. */
  kill(): Promise<() => Promise<void>>;
  /** Loses all data. One server only. */
  restartEmpty?(): Promise<void>;
  stop(): Promise<void>;
}

/** What the log does while its broker fails (F4, F14, F15, F25). */
export const eventLogOutageContract = (name: string, create: () => Promise<BreakableBroker>): void => {
  describe(`event log without its broker: ${name}`, () => {
    let broker: BreakableBroker;
    let connection: NatsConnection;
    let fixture: LogUnderTest;
    let log: EventLog;
    beforeAll(async () => {
      broker = await create();
      fixture = await natsEventLog(broker.servers, broker.replicas);
      connection = await openConnection({ servers: broker.servers, name: 'short of patience', requestTimeoutMs: 500 });
      log = logOn(connection, { replicas: broker.replicas, requestTimeoutMs: 500 });
    });
    afterAll(async () => {
      await connection?.close();
      await fixture?.close();
      await broker?.stop();
    });

    test('an append that a paused broker does not answer is unknown, and a retry stores it once', async () => {
      const commit = commitTo(freshKey());
      const resume = await broker.pause();
      const appended = await log.append(commit, 0);
      resume();
      expect(appended).toMatchObject({ kind: 'unknown' });
      const seq = await stored(log, commit, 0);
      expect(await log.last(commit.key)).toMatchObject({ id: commit.id, seq });
      await vi.waitFor(async () => expect(await revsOf(log, commit.key)).toEqual([1]));
    });

    test('kill -9 under load: no acknowledged commit is lost, none is there twice, a follower sees each once and in order', async () => {
      const { lastSeq } = await log.info();
      const keys = [...Array(16)].map(() => freshKey());
      const perKey = 40;
      const following = first(log, { after: lastSeq }, keys.length * perKey);
      let done = 0;
      let unknowns = 0;
      const write = async (key: (typeof keys)[number]): Promise<void> => {
        let last = 0;
        for (let rev = 1; rev <= perKey; rev++, done++) last = await stored(log, commitTo(key, { rev }), last, () => unknowns++);
      };
      const writing = Promise.all(keys.map(write));
      await vi.waitFor(() => expect(done).toBeGreaterThan(100), { interval: 1 });
      const start = await broker.kill();
      await vi.waitFor(() => expect(unknowns).toBeGreaterThan(0), { interval: 5 });
      await start();
      await writing;

      const seen = await following;
      expect(seen.map(({ seq }) => seq)).toEqual([...new Set(seen.map(({ seq }) => seq))].sort((a, b) => a - b));
      const all = [...Array(perKey)].map((_, index) => index + 1);
      for (const key of keys) {
        expect(seen.filter((commit) => commit.key === key).map(({ rev }) => rev)).toEqual(all);
        await vi.waitFor(async () => expect(await revsOf(log, key)).toEqual(all));
      }
    });

    test('one server: while it is away reads say unavailable and appends unknown; a follower goes on when it is back', async (context) => {
      if (broker.replicas !== 1) return context.skip('a cluster is not away when one node is');
      const { lastSeq } = await log.info();
      const key = freshKey();
      const last = (await appendMany(log, key, 3)).at(-1) ?? 0;
      const following = first(log, { after: lastSeq }, 4);
      const start = await broker.kill();
      const unavailable = { name: 'NatterError', code: 'unavailable', retryAfterMs: expect.any(Number) };
      await expect(log.last(key)).rejects.toMatchObject(unavailable);
      await expect(revsOf(log, key)).rejects.toMatchObject(unavailable);
      await expect(log.page({ after: 0, limit: 1 })).rejects.toMatchObject(unavailable);
      await expect(log.info()).rejects.toMatchObject(unavailable);
      const commit = commitTo(key, { rev: 4 });
      expect(await log.append(commit, last)).toMatchObject({ kind: 'unknown' });
      await start();
      await stored(log, commit, last);
      expect((await following).map(({ rev }) => rev)).toEqual([1, 2, 3, 4]);
    });

    test('one server: a follower says so when the log was lost, also when the new one has grown as long (I13)', async (context) => {
      if (broker.restartEmpty === undefined) return context.skip('a cluster does not come back empty when one node does');
      const { lastSeq } = await log.info();
      const seqs = await appendMany(log, freshKey(), 1);
      const stop = new AbortController();
      const following = log.follow({ after: lastSeq, signal: stop.signal })[Symbol.asyncIterator]();
      expect((await following.next()).value).toMatchObject({ seq: seqs[0] });
      const next = following.next();
      next.catch(() => {});
      await broker.restartEmpty();
      const anew = await natsEventLog(broker.servers, 1);
      await appendMany(anew.log, freshKey(), lastSeq + 10);
      await expect(next).rejects.toMatchObject({ code: 'log_regressed' });
      await anew.close();
    });

    test('many followers of one process cost the broker one reading, and nothing is missing where they meet', async () => {
      const received = async (tail: LogTail): Promise<number> => {
        const own = await openConnection({ servers: broker.servers, name: 'shared', requestTimeoutMs: 500 });
        const shared = logOn(own, { replicas: broker.replicas, requestTimeoutMs: 500, tail });
        const { lastSeq } = await shared.info();
        const headlines = ['user_message', 'session_deleted'] as const;
        const all = [...Array(8).keys()].map((at) => first(shared, { after: lastSeq, ...(at % 2 === 1 && { headlines }) }, 30));
        const seqs = await appendMany(fixture.log, freshKey(), 30);
        for (const seen of await Promise.all(all)) expect(seen.map(({ seq }) => seq)).toEqual(seqs);
        const { inMsgs } = own.stats();
        await own.close();
        return inMsgs;
      };
      expect(2 * (await received(new LogTail()))).toBeLessThan(await received(new LogTail({ shares: false })));
    });

    test('a connection that we closed ends appends, reads and followers with an error', async () => {
      const own = await openConnection({ servers: broker.servers, name: 'closed', requestTimeoutMs: 500 });
      const closing = logOn(own, { replicas: broker.replicas, requestTimeoutMs: 500 });
      const { lastSeq } = await closing.info();
      const following = first(closing, { after: lastSeq }, 1);
      following.catch(() => {});
      await own.close();
      expect(await closing.append(commitTo(freshKey()), 0)).toMatchObject({ kind: 'unknown' });
      await expect(closing.info()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(following).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
};

type LogOptions = Pick<NatsEventLogOptions, 'requestTimeoutMs' | 'onBad'> & {
  readonly replicas: number;
  readonly tail?: LogTail;
};

const logOn = (connection: NatsConnection, { replicas, tail = new LogTail(), ...options }: LogOptions): NatsEventLog =>
  new NatsEventLog({ connection, subjects, clock: systemClock, grouping: groupingOf(replicas), tail, ...options });

/** Headers of a stranger who would like to lead readers astray: the broker's own names, and a status. */
const misleadingHeaders = (): MsgHdrs => {
  const misleading = headers(404, 'Not Found');
  for (const [name, value] of [
    ['Nats-Sequence', '999999999'],
    ['Nats-Last-Sequence', '7'],
    ['Nats-Num-Pending', '0'],
  ] as const)
    misleading.set(name, value);
  return misleading;
};
