import { join } from 'node:path';
import Database from 'libsql';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { clawhubIn } from './lock.ts';

const waitMs = 10_000;

/**
 * Does what takes a moment while no other process of this machine does so for the same folder. SQLite has the lock, so the system lets go of
 * it for a process that ends in between. Throws `unavailable` when another has it for too long.
 */
export const alone = <T>(folder: string, work: () => T): T => {
  const file = join(clawhubIn(folder), 'lock.sqlite');
  try {
    const database = new Database(file, { timeout: waitMs });
    try {
      database.exec('BEGIN EXCLUSIVE');
      return work();
    } finally {
      database.close();
    }
  } catch (cause) {
    if (!String((cause as { code?: unknown }).code).startsWith('SQLITE_')) throw cause;
    throw new NatterError('unavailable', `${file}: ${errorMessage(cause)}; wait for who installs skills there, or remove it`, {
      cause,
    });
  }
};
