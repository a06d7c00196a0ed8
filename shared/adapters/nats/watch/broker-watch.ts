import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../../kit/clock.ts';
import { errorMessage, NatterError } from '../../../kit/errors.ts';
import { HealthProblem } from '../../../kit/health-problem.ts';
import type { Logger } from '../../../kit/log.ts';
import type { LogGuard } from '../../kv/log-guard.ts';
import { failureOf } from '../broker-errors.ts';
import { connectionProblems } from '../connection.ts';

/** Checks every two seconds whether the log has regressed. */
export interface BrokerWatch {
  problems(): readonly HealthProblem[];
  stop(): void;
}
export interface BrokerWatchOptions {
  readonly connection: NatsConnection;
  readonly guard: LogGuard;
  readonly clock: Clock;
  readonly log?: Logger;
}

const lookMs = 2_000;

/** Resolves after the first check. */
export const watchBroker = async (options: BrokerWatchOptions): Promise<BrokerWatch> => {
  const { connection, guard, clock, log } = options;
  const stopping = new AbortController();
  let found: readonly HealthProblem[] = [];
  let regressed = false;

  const look = async (): Promise<void> => {
    if (connectionProblems(connection).length > 0) return; // The connection's own problems are clearer, and a request would only time out.
    found = await guard.look().then(() => [], unreadable);
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
      if (type === 'disconnect') guard.distrust();
      if (type === 'reconnect') await look();
    }
  };

  await look();
  void keepLooking();
  void followConnection();
  return {
    problems: () => {
      const regression = guard.problem();
      if (regression === null) return found;
      const code = regression.certain ? 'log_went_back' : 'starting';
      return [...found, new HealthProblem(code, regression.text)];
    },
    stop: () => stopping.abort(),
  };
};

/** That the stream is missing is told by the `StoreWatch`. */
const unreadable = (error: unknown): HealthProblem[] => {
  const failure = failureOf(error instanceof NatterError ? error.cause : error);
  return failure === 'missing' || failure === 'closed' ? [] : [new HealthProblem('broker_unusable', errorMessage(error))];
};
