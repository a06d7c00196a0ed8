import { jetstreamManager } from '@nats-io/jetstream';
import type { Config } from '../../domain/config/schema.ts';
import type { Clock } from '../../kit/clock.ts';
import { errorMessage } from '../../kit/errors.ts';
import type { Logger } from '../../kit/log.ts';
import type { Ports } from '../../ports/index.ts';
import { subjectsUnder } from '../../wire/subjects.ts';
import { bucketNames, streamNames, topologyOf } from '../../wire/topology.ts';
import { createCursors } from '../kv/cursors.ts';
import { guardedBucket } from '../kv/guards/guarded-bucket.ts';
import { createLeases } from '../kv/leases.ts';
import { createMemoryStore } from '../kv/memory/memory-store.ts';
import { createNewCalls } from '../kv/new-calls.ts';
import { createPairings } from '../kv/pairings.ts';
import { createPresence } from '../kv/presence.ts';
import { createReadMarks } from '../kv/read-marks.ts';
import { createSessionIndex } from '../kv/session-index.ts';
import type { SnapshotKey } from '../kv/snapshot-key.ts';
import { createSnapshots } from '../kv/snapshots.ts';
import { createTokens } from '../kv/tokens.ts';
import { createAnswers } from '../streams/answers.ts';
import { createLive } from '../streams/live.ts';
import { LogTail } from '../streams/log-tail.ts';
import { createResumeRequests } from '../streams/resume-requests.ts';
import { tracedQueue } from '../streams/traced-queue.ts';
import { openAttachments } from './attachments.ts';
import { openAuditLog } from './audit-log.ts';
import { type ConnectionSettings, type Connections, inboxOf, openConnections } from './client/connection.ts';
import { openCustodyLog } from './custody-log.ts';
import { openDeadLetters } from './dead-letters.ts';
import { type Discovered, Discovery } from './discovery.ts';
import { createEphemera } from './ephemera.ts';
import { openKvStore } from './kv-store.ts';
import { NatsEventLog } from './log/event-log.ts';
import { groupingOf } from './publish/atomic-publisher.ts';
import { checkpointQueue, commandQueue, inboundQueue } from './queue/work-queue.ts';
import { startGuards } from './watch/guards.ts';
import { StoreWatch, type StoreWatchOptions } from './watch/store-watch.ts';

export interface OpenOptions extends Omit<ConnectionSettings, 'requestTimeoutMs'> {
  readonly clock: Clock;
  /** The installation's. Default: one of this process, which believes no snapshots but its own. */
  readonly snapshotKey?: SnapshotKey;
  /** Logs what no caller learns: a message that is not a commit, a failing lease, a log that went back. */
  readonly log?: Logger;
  /** What the broker's own tools shall find. Absent: nothing. */
  readonly discovered?: Discovered;
  /** That of this process, if it has one already. Default: one of its own. */
  readonly store?: StoreWatch;
  /** That of this process, if it opens ports more than once for the same log. Default: one of its own. */
  readonly tail?: LogTail;
}

/** Watches the store over this connection, until it is stopped. */
export const watchStore = async (
  { prefix, nats: { replicas, partitions, requestTimeoutMs } }: Config,
  options: Pick<StoreWatchOptions, 'connection' | 'clock' | 'supervised'>,
): Promise<StoreWatch> => {
  const subjects = subjectsUnder(prefix);
  // A cluster waits four seconds for the streams that do not answer before it lists the others.
  const timeout = replicas > 1 ? Math.max(requestTimeoutMs, 6_000) : requestTimeoutMs;
  const manager = await jetstreamManager(options.connection, { checkAPI: false, timeout });
  const topology = topologyOf(subjects, { replicas, partitions });
  return StoreWatch.start({ ...options, manager, topology, requestTimeoutMs, probe: subjects.probe });
};

/** What the broker refuses is not answered either: that is no disk which fails, and `permission_denied` says so. */
const tellingStore =
  (store: StoreWatch, connections: Pick<Connections, 'problems'>): StoreWatch['appended'] =>
  (failure) => {
    const isRefused = failure === 'unknown' && connections.problems().some(({ code }) => code === 'permission_denied');
    if (!isRefused) store.appended(failure);
  };

/**
 * Opens every port on a broker that `provision` has prepared. Also resolves when the broker is away: `problems()` says so, calls
 * fail as `unavailable`, and everything works once the broker is back.
 */
export const openNats = async (config: Config, options: OpenOptions): Promise<Ports> => {
  const { clock, log, tail = new LogTail() } = options;
  const { requestTimeoutMs, replicas, partitions } = config.nats;
  const subjects = subjectsUnder(config.prefix);
  const topology = topologyOf(subjects, { replicas, partitions });
  const buckets = bucketNames(config.prefix);
  const connections = await openConnections({ ...options, requestTimeoutMs });
  const { commits, caches, consumers } = connections;

  const inCommits = { connection: commits, subjects, requestTimeoutMs };
  const onBad = ({ seq, subject, error }: { seq: number; subject: string; error: Error }): void =>
    log?.error({ seq, subject, problem: errorMessage(error) }, 'a message in the event log is not a commit; it is skipped');
  const store = options.store ?? (await watchStore(config, { connection: commits, clock }));
  const wrote = tellingStore(store, connections);
  const deadLetters = await openDeadLetters(inCommits);
  const bucket = (name: string) => {
    const anchor = topology.streams.find((stream) => stream.name === `KV_${name}`)?.anchor;
    return openKvStore({ connection: caches, bucket: name, anchor, requestTimeoutMs });
  };
  const snapshots = await bucket(buckets.snapshots);
  const index = await bucket(buckets.index);
  const hosts = await bucket(buckets.hosts);
  const memory = await bucket(buckets.memory);
  const events = new NatsEventLog({ ...inCommits, clock, onBad, wrote, tail, grouping: groupingOf(replicas) });
  const guards = await startGuards({
    ...{ commits, consumers, prefix: config.prefix, requestTimeoutMs, clock, cursors: createCursors(index) },
    ...{ events, witnesses: await bucket(buckets.witness) },
    ...(log && { log }),
  });

  const facts = async (name: string) => guardedBucket(await bucket(name), guards.guardOf(`KV_${name}`));
  const [tokens, pairings] = [await facts(buckets.tokens), await facts(buckets.pairings)];

  const queue = { connection: consumers, subjects, topology, deadLetters, clock, requestTimeoutMs, guardOf: guards.guardOf };
  const ephemera = createEphemera(consumers);
  const attachments = await openAttachments({ connection: caches, prefix: config.prefix, clock, requestTimeoutMs });
  const answers = createAnswers(ephemera, clock, inboxOf(consumers));
  const live = createLive(ephemera, subjects, inboxOf(consumers));
  const discovery = new Discovery(clock, subjects).answer(consumers, options.discovered);
  const leaseFailed = (name: string, error: unknown): void =>
    log?.warn({ lease: name, problem: errorMessage(error) }, 'lease failed');

  return {
    clock,
    events: guards.events,
    commands: tracedQueue('commands', commandQueue(queue), (handle) => discovery.counted('commands', handle)),
    inbound: tracedQueue('inbound', inboundQueue(queue), (handle) => discovery.counted('inbound', handle)),
    checkpoints: tracedQueue('checkpoints', checkpointQueue(queue), (handle) => discovery.counted('checkpoints', handle)),
    ...{ answers, attachments },
    snapshots: createSnapshots(guards.cache(snapshots), options.snapshotKey),
    index: createSessionIndex(guards.cache(index), clock),
    memory: createMemoryStore(guards.cache(memory), clock),
    cursors: createCursors(guards.cache(index)),
    leases: createLeases(hosts, clock, leaseFailed),
    ...{ live, resumeRequests: createResumeRequests(ephemera, subjects) },
    custody: await openCustodyLog({ ...inCommits, guard: guards.guardOf(streamNames(config.prefix).deliveries) }),
    deadLetters,
    tokens: createTokens(tokens, clock),
    ...{ newCalls: createNewCalls(tokens), readMarks: createReadMarks(tokens, clock) },
    pairings: createPairings(pairings),
    audit: await openAuditLog(inCommits),
    presence: createPresence(hosts),
    problems: () => {
      const found = connections.problems();
      // Without a broker the rest is unknown, and only repeats that.
      return found.some((each) => each.stops({ changes: false })) ? found : [...found, ...store.problems(), ...guards.problems()];
    },
    close: async () => {
      answers.close();
      live.close();
      if (options.store === undefined) store.stop();
      // A stop does not wait for a broker that is away.
      await guards.stop(connections.problems().length === 0);
      await connections.close();
    },
  };
};
