import { openNats } from '../../../shared/adapters/nats/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { installationIn } from '../installation.ts';
import { type BrokerAddress, unreachable } from './broker.ts';
import { snapshotKeyFor } from './snapshot-key.ts';

/** Opens the ports for `work` and closes them afterwards. Throws `NatterError('unavailable')` if the broker cannot be reached. */
export const withPorts = async <T>(config: Config, address: BrokerAddress, work: (ports: Ports) => Promise<T>): Promise<T> => {
  const key = snapshotKeyFor(config, installationIn(config.dataDir));
  const ports = await openNats(config, { ...address, ...key, name: 'natter command', clock: systemClock });
  try {
    const problem = ports.problems().find((each) => each.stops({ changes: false }));
    if (problem !== undefined) throw unreachable(config, address, problem.message);
    return await work(ports);
  } finally {
    await ports.close();
  }
};
