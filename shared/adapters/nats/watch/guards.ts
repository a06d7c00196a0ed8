import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../../kit/clock.ts';
import type { HealthProblem } from '../../../kit/health-problem.ts';
import type { Logger } from '../../../kit/log.ts';
import type { Cursors } from '../../../ports/cursors.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import { bucketNames, streamNames } from '../../../wire/topology.ts';
import { guardedCache } from '../../kv/guards/guarded-bucket.ts';
import { LogGuard } from '../../kv/guards/log-guard.ts';
import { QueueGuard } from '../../kv/guards/queue-guard.ts';
import { createWritersWitness, queueWitness } from '../../kv/guards/writers-witness.ts';
import type { KeyValue } from '../../kv/key-value.ts';
import { toNatterError } from '../client/broker-errors.ts';
import { incarnationOf } from '../stream-config.ts';
import { watchBroker } from './broker-watch.ts';

/** The streams, beside the log, that hold what was acknowledged and is nowhere else: a loss there must not pass unnoticed (I13). */
export const guardedStreams = (prefix: string) => {
  const { commands, inbound, timers, deliveries } = streamNames(prefix);
  const { tokens, pairings } = bucketNames(prefix);
  return { commands, inbound, timers, deliveries, tokens: `KV_${tokens}`, pairings: `KV_${pairings}` };
};
export type GuardedName = keyof ReturnType<typeof guardedStreams>;
/** Services without rights there never use them, and may not look. */
const lazyNames: readonly string[] = ['deliveries', 'tokens', 'pairings'] satisfies GuardedName[];

export interface GuardsOptions {
  readonly events: EventLog;
  readonly cursors: Pick<Cursors, 'all'>;
  /** The bucket of the witnesses. */
  readonly witnesses: KeyValue;
  /** Commits and deliveries are written over the one, queues are used over the other. */
  readonly commits: NatsConnection;
  readonly consumers: NatsConnection;
  readonly prefix: string;
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  readonly log?: Logger;
}

/** Guards the log, and the streams beside it, against going back unnoticed. */
export interface Guards {
  readonly events: EventLog;
  /** A bucket of what is derived from the log. */
  cache(bucket: KeyValue): KeyValue;
  /** By the name of its stream. */
  guardOf(stream: string): QueueGuard | undefined;
  problems(): readonly HealthProblem[];
  /** Shares what was seen last if the broker is there. */
  stop(isThere: boolean): Promise<void>;
}

/** How far a stream has come, by its leader. Rejects with `NatterError`. */
export const streamEnd = async (
  { streams }: JetStreamManager,
  stream: string,
): Promise<{ incarnation: number; lastSeq: number }> => {
  try {
    const found = await streams.info(stream);
    return { incarnation: incarnationOf(found), lastSeq: found.state.last_seq };
  } catch (error) {
    throw toNatterError(error, `describe the stream ${stream}`);
  }
};

/** Resolves after the first look. */
export const startGuards = async (options: GuardsOptions): Promise<Guards> => {
  const { events, cursors, witnesses, commits, consumers, prefix, requestTimeoutMs: timeout, clock, log } = options;
  const ofLog = new LogGuard({ events, cursors, clock, witness: createWritersWitness(witnesses) });
  const manager = await jetstreamManager(consumers, { checkAPI: false, timeout });
  const ofQueues = new Map(
    Object.entries(guardedStreams(prefix)).map(([name, stream]) => {
      const witness = createWritersWitness(witnesses, queueWitness(name));
      const lazy = lazyNames.includes(name);
      return [stream, new QueueGuard({ stream, witness, clock, lazy, end: () => streamEnd(manager, stream) })];
    }),
  );
  const watched = { clock, ...(log && { log }) };
  const watches = await Promise.all([
    watchBroker({ ...watched, connection: commits, guards: [ofLog] }),
    watchBroker({ ...watched, connection: consumers, guards: [...ofQueues.values()] }),
  ]);
  return {
    events: ofLog.guarded(),
    cache: (bucket) => guardedCache(bucket, ofLog),
    guardOf: (stream) => ofQueues.get(stream),
    problems: () => watches.flatMap((watch) => watch.problems()),
    stop: async (isThere) => {
      for (const watch of watches) watch.stop();
      for (const guard of ofQueues.values()) guard.stop();
      if (isThere) await Promise.all([ofLog, ...ofQueues.values()].map((guard) => guard.save().catch(() => {})));
    },
  };
};
