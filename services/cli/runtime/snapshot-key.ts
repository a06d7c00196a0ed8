import { readFileSync } from 'node:fs';
import { SnapshotKey } from '../../../shared/adapters/kv/snapshot-key.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import type { Installation } from '../installation.ts';

/**
 * The key of `nats.snapshotKeyFile`, else that of the data directory, made at the first start. Nothing where no file can be written: then the
 * process believes its own snapshots only. Throws `NatterError('invalid')` for a file that has no key, with its path.
 */
export const snapshotKeyFor = (
  { nats: { snapshotKeyFile } }: Pick<Config, 'nats'>,
  installation: Installation,
): { readonly snapshotKey?: SnapshotKey } => {
  if (snapshotKeyFile === undefined) {
    const pem = installation.snapshotKey(() => SnapshotKey.newPem());
    try {
      return pem === null ? {} : { snapshotKey: SnapshotKey.from(pem) };
    } catch (error) {
      const fix = 'remove it: a new key is made, and sessions are loaded from the log once';
      throw new NatterError('invalid', `${installation.paths.snapshotKey}: ${errorMessage(error)}; ${fix}`);
    }
  }
  try {
    return { snapshotKey: SnapshotKey.from(readFileSync(snapshotKeyFile, 'utf8')) };
  } catch (error) {
    const message = `nats.snapshotKeyFile: ${errorMessage(error)}; make one with "openssl genpkey -algorithm ed25519"`;
    throw new NatterError('invalid', message, { field: 'nats.snapshotKeyFile' });
  }
};
