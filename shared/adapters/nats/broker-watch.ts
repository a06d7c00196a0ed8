import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../kit/clock.ts';
import { errorMessage } from '../../kit/errors.ts';
import type { Logger } from '../../kit/log.ts';
import type { Topology } from '../../wire/topology.ts';
import type { LogGuard } from '../streams/log-guard.ts';
import { failureOf, toNatterError } from './broker-errors.ts';
import { connectionProblems } from './connection.ts';
import { missingStreams } from './provision.ts';

/** Checks the broker once a second: whether our streams exist, and whether the log has regressed. */
export interface BrokerWatch {
  problems(): readonly string[];
  stop(): void;
}
export interface BrokerWatchOptions {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly topology: Topology;
  readonly guard: LogGuard;
  readonly clock: Clock;
  readonly log?: Logger;
}

const lookMs = 1_000;

/** Resolves after the first check. */
export const watchBroker = async (options: BrokerWatchOptions): Promise<BrokerWatch> => {
  const { connection, guard, clock, log } = options;
  const stopping = new AbortController();
  let found: readonly string[] = ['the broker has not been checked yet'];
  let regressed = false;

  const look = async (): Promise<void> => {
    if (connectionProblems(connection).length > 0) return; // The connection's own problems are clearer, and a request would only time out.
    found = await streamProblems(options);
    const problem = guard.problem();
    if (problem?.certain && !regressed) log?.fatal({ problem: problem.text }, 'the event log went back: writing has stopped');
    if (problem === null && regressed) log?.warn('the event log is back: writing continues');
    regressed = problem?.certain ?? false;
  };
  const keepLooking = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(lookMs, stopping.signal);
      await look();
    }
  };
  /** After a reconnect there may be another broker. */
  const followConnection = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        guard.distrust();
        found = ['the broker was away and is being checked'];
      }
      if (type === 'reconnect') await look();
    }
  };

  await look();
  void keepLooking();
  void followConnection();
  return {
    problems: () => {
      const regression = guard.problem();
      return regression === null ? found : [...found, regression.text];
    },
    stop: () => stopping.abort(),
  };
};

const streamProblems = async ({ manager, topology, guard }: BrokerWatchOptions): Promise<readonly string[]> => {
  try {
    const missing = await missingStreams(manager, topology);
    if (missing.length > 0) return [`the broker has no stream ${missing.join(', ')}: it was not provisioned, or lost its data`];
    await guard.look();
    return [];
  } catch (error) {
    return failureOf(error) === 'closed' ? [] : [errorMessage(toNatterError(error, 'list its streams'))];
  }
};
