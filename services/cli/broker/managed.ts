import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NatterError } from '../../../shared/kit/errors.ts';
import { brokerAccount } from '../../../shared/wire/rights.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { usersFolder } from '../installation.ts';
import { takeDataLock } from './data-lock.ts';
import { serverConfigFile } from './process.ts';
import { type ManagedServer, type ManagedServerOptions, Supervisor } from './supervisor.ts';
import { accountConfig, makeUsers, serverUsers, usersIn } from './users.ts';

/**
 * Starts the broker of this installation and keeps it running, on one port as long as this process lives, so that clients reconnect.
 * Throws `NatterError('unavailable')` when another process uses the folder, or when the server does not start.
 */
export const startManagedServer = async (options: ManagedServerOptions): Promise<ManagedServer> => {
  const folder = join(options.dataDir, 'broker');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await takeDataLock(join(folder, 'lock'));
  try {
    return await Supervisor.start({ ...options, folder, lock, configFile: await prepare(options, folder) });
  } catch (error) {
    await lock.release();
    throw error;
  }
};

/** Makes what the server needs: the seeds of its users, its configuration, and a store that their account finds. */
const prepare = async ({ dataDir, prefix }: ManagedServerOptions, folder: string): Promise<string> => {
  makeUsers(usersFolder(dataDir));
  const account = accountConfig(serverUsers(usersIn(usersFolder(dataDir)), subjectsUnder(prefix)));
  await moveToAccount(join(folder, 'store', 'jetstream'));
  const file = join(folder, 'nats.conf');
  await writeFile(file, `${await readFile(serverConfigFile(), 'utf8')}\n${account}`, { mode: 0o600 });
  return file;
};

/** Before there were users, the streams were in the broker's default account, whose folder this is. */
const defaultAccount = '$G';

/** The server looks for an account's streams in the folder of its name. Moving it is one step, so that it is done or not. */
const moveToAccount = async (store: string): Promise<void> => {
  const [from, to] = [join(store, defaultAccount), join(store, brokerAccount)];
  if (!existsSync(from)) return;
  if (existsSync(to))
    throw new NatterError(
      'unavailable',
      `${from} and ${to} both have streams: an older version of Natter was started here after a newer one; move one of them away`,
    );
  await rename(from, to);
};
