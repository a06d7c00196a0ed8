import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, untilBeat } from '../../../kit/clock.ts';
import { errorMessage, NatterError } from '../../../kit/errors.ts';
import { HealthProblem } from '../../../kit/health-problem.ts';
import type { Logger } from '../../../kit/log.ts';
import type { StreamGuard } from '../../kv/guards/stream-guard.ts';
import { type BrokerFailure, failureOf } from '../client/broker-errors.ts';
import { connectionProblems } from '../client/connection.ts';
import { unansweredMs } from './store-watch.ts';

/** Checks whether the log or a queue has gone back. */
export interface BrokerWatch {
  problems(): readonly HealthProblem[];
  stop(): void;
}
export interface BrokerWatchOptions {
  readonly connection: NatsConnection;
  /** Of streams that are used over this connection. */
  readonly guards: readonly StreamGuard[];
  readonly clock: Clock;
  readonly log?: Logger;
}

const lookMs = 2_000;

/** Resolves after the first check. */
export const watchBroker = async (options: BrokerWatchOptions): Promise<BrokerWatch> => {
  const { connection, guards, clock, log } = options;
  const stopping = new AbortController();
  let found: readonly HealthProblem[] = [];
  let silentSince: number | null = null;
  const regressed = new Set<StreamGuard>();

  const look = async (): Promise<void> => {
    if (connectionProblems(connection).length > 0) return; // The connection's own problems are clearer, and a request would only time out.
    const began = clock.monotonic();
    const due = guards.filter((guard) => guard.isDue);
    const failures = (await Promise.all(due.map((guard) => guard.look().then(() => [], failed)))).flat();
    const isSilent = failures.length > 0 && failures.every(({ failure }) => failure === 'unknown');
    silentSince = isSilent ? (silentSince ?? began) : null;
    const isLate = silentSince !== null && clock.monotonic() - silentSince < unansweredMs;
    found = isLate ? [] : failures.map(({ text }) => new HealthProblem('broker_unusable', text));
    for (const guard of guards) {
      const problem = guard.problem();
      if (problem?.certain && !regressed.has(guard)) log?.fatal({ problem: problem.text }, `${guard.code}: its work has stopped`);
      if (problem === null && regressed.has(guard)) log?.warn(`${guard.code} is over: work continues`);
      if (problem?.certain) regressed.add(guard);
      else regressed.delete(guard);
    }
  };
  const keepLooking = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(untilBeat(clock, lookMs), stopping.signal);
      await look();
    }
  };
  /** After a reconnect there may be another broker. */
  const followConnection = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') for (const guard of guards) guard.distrust();
      if (type === 'reconnect') await look();
    }
  };

  await look();
  void keepLooking();
  void followConnection();
  return {
    problems: () => [
      ...found,
      ...guards.flatMap((guard) => {
        const problem = guard.problem();
        return problem === null ? [] : new HealthProblem(problem.certain ? guard.code : 'starting', problem.text, problem.fix);
      }),
    ],
    stop: () => stopping.abort(),
  };
};

/** That the stream is missing is told by the `StoreWatch`. */
const failed = (error: unknown): { readonly failure: BrokerFailure; readonly text: string }[] => {
  const failure = failureOf(error instanceof NatterError ? error.cause : error);
  return failure === 'missing' || failure === 'closed' ? [] : [{ failure, text: errorMessage(error) }];
};
