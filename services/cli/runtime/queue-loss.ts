import { jetstreamManager } from '@nats-io/jetstream';
import { createWritersWitness, queueWitness, type WritersWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import { giveUpPlaces } from '../../../shared/adapters/nats/give-up.ts';
import { openKvStore } from '../../../shared/adapters/nats/kv-store.ts';
import { type GuardedName, guardedStreams, streamEnd } from '../../../shared/adapters/nats/watch/guards.ts';
import { regression } from '../../../shared/domain/session/log-witness.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { bucketNames } from '../../../shared/wire/topology.ts';
import { type Acceptance, unseenMargin } from './log-loss.ts';
import type { LogResources } from './with-log.ts';

/** What a stream beside the log has lost. What became of the messages in question before, nobody can say (I13). */
export interface QueueLoss {
  readonly queue: GuardedName;
  readonly stream: string;
  readonly problem: string;
  readonly lastSeq: number;
  /** The greatest place that was acknowledged or delivered. */
  readonly reached: number;
}
type Resources = Pick<LogResources, 'config' | 'connection'>;

const witnessOf = async ({ config, connection }: Resources, queue: QueueLoss['queue']): Promise<WritersWitness> => {
  const { requestTimeoutMs } = config.nats;
  const bucket = await openKvStore({ connection, bucket: bucketNames(config.prefix).witness, requestTimeoutMs });
  return createWritersWitness(bucket, queueWitness(queue));
};

/** The streams that went back to an older copy, compared with their witnesses. Throws `NatterError('unavailable')`. */
export const findQueueLosses = async (resources: Resources): Promise<readonly QueueLoss[]> => {
  const { config, connection } = resources;
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: config.nats.requestTimeoutMs });
  const losses = await Promise.all(
    Object.entries(guardedStreams(config.prefix)).map(async ([name, stream]): Promise<QueueLoss[]> => {
      const queue = name as GuardedName;
      const seen = await (await witnessOf(resources, queue)).read();
      const now = await streamEnd(manager, stream);
      const reused =
        seen.reused === undefined ? null : `${stream} gave its place ${seen.reused} out again, and had reached ${seen.seq}`;
      const problem = regression(seen, { ...now, digest: null }, stream) ?? reused;
      return problem === null ? [] : [{ queue, stream, problem, lastSeq: now.lastSeq, reached: seen.seq }];
    }),
  );
  return losses.flat();
};

/**
 * Accepts that what a queue has lost is gone: recorded in the audit trail first. No place of a command is given out again, because sessions
 * tell repeats by it (I2). The processes that wait go on by themselves. After a failure call it again.
 */
export const acceptQueueLoss = async (resources: LogResources, loss: QueueLoss, { actor, reason }: Acceptance): Promise<void> => {
  const { config, connection, ports } = resources;
  const { queue, stream, lastSeq, reached } = loss;
  const detail = `${stream} ends at ${lastSeq} and had reached ${reached}; reason: ${reason}`;
  const { clock, audit } = ports;
  await audit.append({ v: 1, at: clock.now(), kind: 'queue_loss_accepted', actor, target: stream, outcome: 'ok', detail });
  const timeoutMs = config.nats.requestTimeoutMs;
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs });
  const witness = await witnessOf(resources, queue);
  if (queue === 'commands') {
    // Until all of this is done the queue counts as gone back, whatever its end is.
    await witness.reuse(lastSeq + 1, (await witness.read()).accepted);
    const { givenUpCommands: subject, storedGivenUpCommands: filter } = subjectsUnder(config.prefix);
    await giveUpPlaces(connection, { subject, after: lastSeq, through: reached + unseenMargin, timeoutMs });
    await manager.streams.purge(stream, { filter });
  }
  const { lastSeq: seq, incarnation } = await streamEnd(manager, stream);
  await witness.accept({ incarnation, seq, digest: null });
};
