import type { Config } from '../../../shared/runtime/config/load.ts';
import { type BrokerAddress, provisionBroker, topologyFor, withBroker } from '../runtime/broker.ts';
import { withEraser } from '../runtime/erasure.ts';
import type { CheckedBackup } from './check-backup.ts';
import type { LogEntry } from './manifest.ts';
import { repeatErasures } from './repeat-erasures.ts';
import { finishRestore, type RestoreOptions, restoreStreams } from './restore.ts';

export interface RestoreRequest extends Pick<RestoreOptions, 'folder' | 'progress'> {
  readonly config: Config;
  readonly address: BrokerAddress;
  /** As `checkBackup` found it, with the erasures to repeat. */
  readonly backup: CheckedBackup;
  /** Who restores, for the audit trail. */
  readonly actor: string;
}
export interface RestoreReport {
  readonly log: LogEntry;
  /** Sessions erased again. */
  readonly erased: number;
}

/** A whole restore: streams, comparison, erasures, the record in the audit trail, and only then the way is free for the services. */
export const runRestore = async (request: RestoreRequest): Promise<RestoreReport> => {
  const { config, address, backup, actor } = request;
  const report = await withBroker(config, address, 'natter restore', async (connection) => {
    const options = { ...request, connection, topology: topologyFor(config) };
    const log = await restoreStreams(options);
    const erasures = backup.waiting.missingErasures();
    const erased = await withEraser(config, address, async (ports, eraser) => {
      const { id, startedAt } = backup.manifest;
      const of = `backup ${id} of ${new Date(startedAt).toISOString()}, ${log.commits} commits`;
      await ports.audit.append({ v: 1, at: ports.clock.now(), kind: 'log_restored', actor, outcome: 'ok', detail: of });
      return repeatErasures(ports, eraser, { erasures, actor });
    });
    await finishRestore(options);
    return { log, erased };
  });
  // As at every start; it also writes a managed broker's store through to the disk.
  await provisionBroker(config, address);
  return report;
};
