import { JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { closedLoop, type Measured } from './load.ts';
import { type SetupName, setups } from './system.ts';

/**
 * The yardstick: `js.publish` of 300 bytes with an expected last sequence, over 1,000 subjects of a stream of its own on the same broker.
 * Nothing of the product runs in it.
 */
export const rawFencedCommits = async (servers: string, setup: SetupName, inFlight: number, forMs: number): Promise<Measured> => {
  const connection = await openConnection({ servers, name: 'bench yardstick', requestTimeoutMs: 5_000 });
  const name = 'BENCH_RAW';
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name, subjects: ['bench.raw.>'], num_replicas: setups[setup].replicas, allow_direct: true });
  const client = jetstream(connection);
  const payload = new Uint8Array(300).fill(7);
  const last = new Map<string, number>();
  const perWorker = Math.max(1, Math.floor(1_000 / inFlight));
  const measured = await closedLoop(inFlight, forMs, async (number, worker) => {
    const subject = `bench.raw.${worker}.${number % perWorker}`;
    try {
      const expect = { lastSubjectSequence: last.get(subject) ?? 0 };
      last.set(subject, (await client.publish(subject, payload, { expect })).seq);
    } catch (error) {
      if (!(error instanceof JetStreamApiError)) throw error;
    }
  });
  await manager.streams.delete(name);
  await connection.close();
  return measured;
};
