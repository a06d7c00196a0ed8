import { openNats } from '../../../shared/adapters/nats/open.ts';
import type { Config } from '../../../shared/config/load.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { type BrokerAddress, unreachable } from './broker.ts';

/** Has the log read from its beginning by whoever writes the memory. Throws `NatterError('unavailable')` when the broker is away. */
export const rebuildMemory = async (config: Config, address: BrokerAddress): Promise<void> => {
  const ports = await openNats(config, { ...address, name: 'natter memory', clock: systemClock });
  try {
    const [problem] = ports.problems();
    if (problem !== undefined) throw unreachable(config, address, problem);
    await ports.memory.reset();
  } finally {
    await ports.close();
  }
};
