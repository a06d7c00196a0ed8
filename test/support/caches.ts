import { jetstreamManager } from '@nats-io/jetstream';
import { InMemoryAttachments } from '../../shared/adapters/in-memory/attachments.ts';
import { createInMemoryAuditLog } from '../../shared/adapters/in-memory/audit-log.ts';
import { createInMemoryCustodyLog } from '../../shared/adapters/in-memory/custody-log.ts';
import { createInMemoryDeadLetters } from '../../shared/adapters/in-memory/dead-letters.ts';
import { createInMemoryEphemera } from '../../shared/adapters/in-memory/ephemera.ts';
import type { Faults } from '../../shared/adapters/in-memory/faults.ts';
import { InMemoryKeyValue } from '../../shared/adapters/in-memory/kv-store.ts';
import { createCursors } from '../../shared/adapters/kv/cursors.ts';
import type { KeyValue } from '../../shared/adapters/kv/key-value.ts';
import { createLeases } from '../../shared/adapters/kv/leases.ts';
import { createMemoryStore } from '../../shared/adapters/kv/memory/memory-store.ts';
import { createNewCalls } from '../../shared/adapters/kv/new-calls.ts';
import { createPairings } from '../../shared/adapters/kv/pairings.ts';
import { createPresence } from '../../shared/adapters/kv/presence.ts';
import { createReadMarks } from '../../shared/adapters/kv/read-marks.ts';
import { createSessionIndex } from '../../shared/adapters/kv/session-index.ts';
import { createSnapshots } from '../../shared/adapters/kv/snapshots.ts';
import { createTokens } from '../../shared/adapters/kv/tokens.ts';
import { openAttachments } from '../../shared/adapters/nats/attachments.ts';
import { openAuditLog } from '../../shared/adapters/nats/audit-log.ts';
import { inboxOf, openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { openCustodyLog } from '../../shared/adapters/nats/custody-log.ts';
import { openDeadLetters } from '../../shared/adapters/nats/dead-letters.ts';
import { createEphemera } from '../../shared/adapters/nats/ephemera.ts';
import { openKvStore } from '../../shared/adapters/nats/kv-store.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import { createAnswers } from '../../shared/adapters/streams/answers.ts';
import type { Ephemera } from '../../shared/adapters/streams/ephemera.ts';
import { createLive } from '../../shared/adapters/streams/live.ts';
import { createResumeRequests } from '../../shared/adapters/streams/resume-requests.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import type { NewCalls } from '../../shared/ports/access/new-calls.ts';
import type { Pairings } from '../../shared/ports/access/pairings.ts';
import type { ReadMarks } from '../../shared/ports/access/read-marks.ts';
import type { Tokens } from '../../shared/ports/access/tokens.ts';
import type { Answers } from '../../shared/ports/answers.ts';
import type { AuditLog } from '../../shared/ports/audit-log.ts';
import type { Cursors } from '../../shared/ports/cursors.ts';
import type { CustodyLog } from '../../shared/ports/custody-log.ts';
import type { DeadLetters } from '../../shared/ports/dead-letters.ts';
import type { Leases } from '../../shared/ports/leases.ts';
import type { Live } from '../../shared/ports/live.ts';
import type { MemoryStore } from '../../shared/ports/memory-store.ts';
import type { Attachments } from '../../shared/ports/objects/attachments.ts';
import type { Presence } from '../../shared/ports/presence.ts';
import type { ResumeRequests } from '../../shared/ports/resume-requests.ts';
import type { SessionIndex } from '../../shared/ports/session-index.ts';
import type { Snapshots } from '../../shared/ports/snapshots.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { bucketNames, type StreamSpec, streamNames, topologyOf } from '../../shared/wire/topology.ts';

/** One process, as far as the caches go. */
export interface CacheHost {
  readonly snapshots: Snapshots;
  readonly index: SessionIndex;
  readonly cursors: Cursors;
  readonly leases: Leases;
  readonly answers: Answers & { close(): void };
  readonly live: Live;
  readonly resumeRequests: ResumeRequests;
  readonly custody: CustodyLog;
  readonly deadLetters: DeadLetters;
  readonly tokens: Tokens;
  readonly newCalls: NewCalls;
  readonly readMarks: ReadMarks;
  readonly pairings: Pairings;
  readonly memory: MemoryStore;
  readonly audit: AuditLog;
  readonly presence: Presence;
  readonly attachments: Attachments;
  /** What its leases complained of. */
  readonly complaints: unknown[];
  /** Cuts it off from the broker for good, as a death does. */
  kill(): Promise<void>;
}

/** A broker with as many processes at it as a test wants. */
export interface CacheBroker {
  host(): Promise<CacheHost>;
  /** To store what no adapter would. */
  readonly buckets: {
    readonly snapshots: KeyValue;
    readonly index: KeyValue;
    readonly hosts: KeyValue;
    readonly tokens: KeyValue;
    readonly memory: KeyValue;
  };
  readonly ephemera: Ephemera;
  /** Dead letters under the prefix `tiny`, with bounds of their own. */
  boundedDeadLetters(bounds: NonNullable<StreamSpec['bounds']>): Promise<{ deadLetters: DeadLetters }>;
  /** Creates the index's bucket anew, empty. */
  emptyIndex(): Promise<void>;
  close(): Promise<void>;
}

export const subjects = subjectsUnder('natter');

/** Ports of one process over a broker's parts; those of the bucket of leases can be cut off. */
const hostOver = (parts: {
  buckets: { snapshots: KeyValue; index: KeyValue; hosts: KeyValue; tokens: KeyValue; pairings: KeyValue; memory: KeyValue };
  ephemera: Ephemera;
  address: string;
  custody: CustodyLog;
  deadLetters: DeadLetters;
  audit: AuditLog;
  attachments: Attachments;
  kill(): Promise<void>;
}): CacheHost => {
  const { buckets, ephemera, address, custody, deadLetters, audit, attachments, kill } = parts;
  const complaints: unknown[] = [];
  return {
    snapshots: createSnapshots(buckets.snapshots),
    index: createSessionIndex(buckets.index, systemClock),
    cursors: createCursors(buckets.index),
    leases: createLeases(buckets.hosts, systemClock, (_, error) => complaints.push(error)),
    answers: createAnswers(ephemera, systemClock, address),
    live: createLive(ephemera, subjects, `${address}.live`),
    resumeRequests: createResumeRequests(ephemera, subjects),
    custody,
    deadLetters,
    tokens: createTokens(buckets.tokens, systemClock),
    newCalls: createNewCalls(buckets.tokens),
    readMarks: createReadMarks(buckets.tokens, systemClock),
    pairings: createPairings(buckets.pairings),
    memory: createMemoryStore(buckets.memory, systemClock),
    audit,
    presence: createPresence(buckets.hosts, 1_000),
    attachments,
    complaints,
    kill,
  };
};

/** A bucket that can be cut off. */
const cuttable = (bucket: KeyValue): { bucket: KeyValue; cut(): void } => {
  let isCut = false;
  const guard = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (isCut) throw new NatterError('unavailable', 'cut off');
    return ask();
  };
  return {
    bucket: {
      read: (key) => guard(() => bucket.read(key)),
      peek: (key) => guard(() => bucket.peek(key)),
      put: (key, value, options) => guard(() => bucket.put(key, value, options)),
      changes: (part, after, limit) => guard(() => bucket.changes(part, after, limit)),
      hint: (filter, wake) => bucket.hint(filter, wake),
      info: () => guard(() => bucket.info()),
    },
    cut: () => {
      isCut = true;
    },
  };
};

/** Every replica learns of a write only after `lagMs`: whoever asks one at once does not find it. */
const lagging = (lagMs: number): Faults => {
  let writtenAt: number[] = [];
  return {
    next: (call) => {
      const now = systemClock.monotonic();
      writtenAt = writtenAt.filter((at) => at > now - lagMs);
      if (call === 'append') writtenAt.push(now);
      const behind = call === 'read' ? writtenAt.length : 0;
      return { fault: behind > 0 ? 'stale' : 'none', delayMs: 0, lateMs: 0, behind };
    },
  };
};

export const openInMemoryCaches = async ({ lagMs = 0 } = {}): Promise<CacheBroker> => {
  const store = () => new InMemoryKeyValue({ clock: systemClock, faults: lagging(lagMs) });
  const buckets = { snapshots: store(), index: store(), hosts: store(), tokens: store(), pairings: store(), memory: store() };
  const ephemera = createInMemoryEphemera();
  const custody = createInMemoryCustodyLog(store());
  const deadLetters = createInMemoryDeadLetters({ clock: systemClock });
  const audit = createInMemoryAuditLog({ clock: systemClock });
  const attachments = new InMemoryAttachments(systemClock);
  let hosts = 0;
  return {
    host: async () => {
      const hostsBucket = cuttable(buckets.hosts);
      return hostOver({
        buckets: { ...buckets, hosts: hostsBucket.bucket },
        ephemera,
        address: `_INBOX.host-${++hosts}`,
        custody,
        deadLetters,
        audit,
        attachments,
        kill: async () => hostsBucket.cut(),
      });
    },
    buckets,
    ephemera,
    boundedDeadLetters: async (bounds) => ({
      deadLetters: createInMemoryDeadLetters({ clock: systemClock, prefix: 'tiny', bounds }),
    }),
    emptyIndex: async () => buckets.index.recreate(),
    close: async () => {},
  };
};

export const openNatsCaches = async (servers: string, replicas: 1 | 3): Promise<CacheBroker> => {
  const requestTimeoutMs = 2_000;
  const names = bucketNames(subjects.prefix);
  const topology = topologyOf(subjects, { replicas, partitions: 1 });
  const connection = await openConnection({ servers, name: 'caches test', requestTimeoutMs });
  const { drift } = await provision(connection, topology);
  if (drift.length > 0) throw new Error(`drift: ${JSON.stringify(drift)}`);
  const connections = [connection];
  const bucketsOn = async (on: typeof connection) => {
    const open = (bucket: string) => openKvStore({ connection: on, bucket, requestTimeoutMs });
    return {
      snapshots: await open(names.snapshots),
      index: await open(names.index),
      hosts: await open(names.hosts),
      tokens: await open(names.tokens),
      pairings: await open(names.pairings),
      memory: await open(names.memory),
    };
  };
  return {
    host: async () => {
      const own = await openConnection({ servers, name: 'caches test host', requestTimeoutMs });
      connections.push(own);
      return hostOver({
        buckets: await bucketsOn(own),
        ephemera: createEphemera(own),
        address: inboxOf(own),
        custody: await openCustodyLog({ connection: own, subjects, requestTimeoutMs }),
        deadLetters: await openDeadLetters({ connection: own, subjects, requestTimeoutMs }),
        audit: await openAuditLog({ connection: own, subjects, requestTimeoutMs }),
        attachments: await openAttachments({ connection: own, prefix: subjects.prefix, clock: systemClock, requestTimeoutMs }),
        kill: () => own.close(),
      });
    },
    buckets: await bucketsOn(connection),
    ephemera: createEphemera(connection),
    boundedDeadLetters: async (bounds) => {
      const tiny = subjectsUnder('tiny');
      const { streams } = topologyOf(tiny, { replicas, partitions: 1 });
      const dead = streams.filter(({ name }) => name === streamNames('tiny').dead).map((spec) => ({ ...spec, bounds }));
      const manager = await jetstreamManager(connection, { checkAPI: false });
      for (const { name } of dead) await manager.streams.delete(name).catch(() => {});
      await provision(connection, { partitions: 1, streams: dead, consumers: [] });
      return { deadLetters: await openDeadLetters({ connection, subjects: tiny, requestTimeoutMs }) };
    },
    emptyIndex: async () => {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      await manager.streams.delete(`KV_${names.index}`);
      await provision(connection, topology);
    },
    close: async () => {
      await Promise.all(connections.map((each) => each.close()));
    },
  };
};
