import { jetstreamManager } from '@nats-io/jetstream';
import { connectionProblems, openConnection } from '../../../shared/adapters/nats/connection.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { missingStreams, provision } from '../../../shared/adapters/nats/provision.ts';
import type { Config } from '../../../shared/config/load.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { type BrokerAddress, topologyFor } from './broker.ts';

/** What the broker has, against what it should have. */
export interface BrokerReport {
  readonly version: string;
  readonly missing: readonly string[];
  /** Consumers that somebody had removed; they are there again. */
  readonly restored: readonly string[];
  /** Settings that differ, in words. */
  readonly drift: readonly string[];
  readonly lastSeq: number;
  /** How far each reader of the log has come. */
  readonly cursors: readonly { readonly name: string; readonly seq: number }[];
}

/** Looks at the broker. Creates nothing but consumers of ours that are gone. Throws `NatterError('unavailable')`. */
export const examineBroker = async (config: Config, address: BrokerAddress): Promise<BrokerReport> => {
  const { requestTimeoutMs } = config.nats;
  const connection = await openConnection({ ...address, name: 'natter doctor', requestTimeoutMs });
  try {
    const [problem] = connectionProblems(connection);
    if (problem !== undefined) throw new NatterError('unavailable', problem);
    const version = connection.info?.version ?? 'unknown';
    const topology = topologyFor(config);
    const missing = await missingStreams(
      await jetstreamManager(connection, { checkAPI: false, timeout: requestTimeoutMs }),
      topology,
    );
    if (missing.length > 0) return { version, missing, restored: [], drift: [], lastSeq: 0, cursors: [] };
    const { created, drift } = await provision(connection, topology);
    const differing = drift.map(({ resource, field, wanted, found }) => `${resource}: ${field} is ${found}, not ${wanted}`);
    return { version, missing, restored: created, drift: differing, ...(await positions(config, address)) };
  } finally {
    await connection.close();
  }
};

const positions = async (config: Config, address: BrokerAddress): Promise<Pick<BrokerReport, 'lastSeq' | 'cursors'>> => {
  const ports = await openNats(config, { name: 'natter doctor', clock: systemClock, ...address });
  try {
    const [{ lastSeq }, delivery, index] = await Promise.all([
      ports.events.info(),
      ports.cursors.get('delivery'),
      ports.index.position(),
    ]);
    return {
      lastSeq,
      cursors: [
        { name: 'delivery', seq: delivery },
        { name: 'index', seq: index },
      ],
    };
  } finally {
    await ports.close();
  }
};
