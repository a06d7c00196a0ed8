import { type ConnectionSettings, closeConnection, openConnection } from '../../../../shared/adapters/nats/client/connection.ts';
import { watchStore } from '../../../../shared/adapters/nats/open.ts';
import { heal } from '../../../../shared/adapters/nats/provision.ts';
import type { StoreWatch } from '../../../../shared/adapters/nats/watch/store-watch.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { errorMessage } from '../../../../shared/kit/errors.ts';
import type { HealthProblem } from '../../../../shared/kit/health-problem.ts';
import type { Logger } from '../../../../shared/kit/log.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import type { Topology } from '../../../../shared/wire/topology.ts';

export interface SupervisionOptions {
  readonly config: Config;
  readonly broker: Omit<ConnectionSettings, 'name' | 'requestTimeoutMs'>;
  readonly topology: Topology;
  /** What only the supervisor of the broker knows. */
  readonly supervised: () => readonly HealthProblem[];
  readonly clock: Clock;
  readonly log: Logger;
}
export interface Supervision {
  /** For all ports of this process. */
  readonly store: StoreWatch;
  stop(): Promise<void>;
}

const healMs = 1_000;

/**
 * Watches the store for all services of this process, and makes consumers again that somebody deleted (F10): services themselves have
 * no right to make one.
 */
export const superviseStore = async ({
  config,
  broker,
  topology,
  supervised,
  clock,
  log,
}: SupervisionOptions): Promise<Supervision> => {
  const { requestTimeoutMs } = config.nats;
  const connection = await openConnection({ ...broker, name: 'natter supervisor', requestTimeoutMs });
  const store = await watchStore(config, { connection, clock, supervised });
  const stopping = new AbortController();

  const keepHealing = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(healMs, stopping.signal);
      if (!store.problems().some(({ code }) => code === 'consumers_missing')) continue;
      try {
        const created = await heal(connection, topology);
        if (created.length > 0) log.warn({ created }, 'consumers were gone and have been made again');
      } catch (error) {
        log.warn({ reason: errorMessage(error) }, 'consumers are gone and could not be made again; retrying');
      }
    }
  };
  const healing = keepHealing();
  return {
    store,
    stop: async () => {
      stopping.abort();
      store.stop();
      await closeConnection(connection);
      await healing;
    },
  };
};
