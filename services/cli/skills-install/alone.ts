import { join } from 'node:path';
import Database from 'libsql';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { clawhubIn } from './lock.ts';

const waitMs = 10_000;

/**
 * Runs `work` while no other process on this machine does so for the same folder. SQLite holds the lock, so the operating system
 * releases it if a process dies. Throws `unavailable` if another process holds it for too long.
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
