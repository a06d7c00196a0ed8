import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errorMessage, NatterError } from '../../shared/kit/errors.ts';
import type { Config } from '../../shared/runtime/config/load.ts';
import { makeOnce } from './make-once.ts';

/** What a running `natter up` leaves for the other commands on this machine: files in the data directory that only the user can read. */
const gatewayFile = z.object({ url: z.string(), token: z.string(), pid: z.number().optional() });
export type GatewayFile = z.infer<typeof gatewayFile>;
const brokerFile = z.object({ servers: z.string(), pid: z.number().optional() });
export type BrokerFile = z.infer<typeof brokerFile>;

const read = <T>(path: string, schema: z.ZodType<T>): T | null => {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
};

/** Replaces a file atomically, so that a power cut leaves the old or the new one; only the user can read it. */
const writePrivate = (path: string, value: unknown): void => {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(temporary, path);
};

/** Where the seeds of a managed broker's users are: one file for each. */
export const usersFolder = (dataDir: string): string => join(dataDir, 'broker', 'users');

/** The text of a file that is written once; of several processes that start together, one makes it. */
const readOrMake = (path: string, make: () => string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {}
  try {
    makeOnce(path, make());
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

const makeFolder = (dataDir: string): void => {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const advice = 'name another one with --data-dir or NATTER_DATA_DIR';
    throw new NatterError('invalid', `the data directory cannot be made: ${errorMessage(error)}; ${advice}`);
  }
};

/** The files of one data directory. */
export const installationIn = (dataDir: string) => {
  const paths = {
    gateway: join(dataDir, 'gateway.json'),
    broker: join(dataDir, 'broker.json'),
    log: join(dataDir, 'natter.log'),
    erasures: join(dataDir, 'erasures.jsonl'),
    snapshotKey: join(dataDir, 'snapshot-key.pem'),
  };
  return {
    paths,
    /** Creates the directory if it is missing, for this user only. Throws `NatterError('invalid')` where this user may not. */
    prepare: () => makeFolder(dataDir),
    gateway: () => read(paths.gateway, gatewayFile),
    writeGateway: (file: GatewayFile) => writePrivate(paths.gateway, file),
    broker: () => read(paths.broker, brokerFile),
    writeBroker: (file: BrokerFile) => writePrivate(paths.broker, file),
    /** The key of snapshots, made if it is missing; `null` where it can neither be read nor written. */
    snapshotKey: (make: () => string) => readOrMake(paths.snapshotKey, make),
    removeBroker: () => rmSync(paths.broker, { force: true }),
  };
};
export type Installation = ReturnType<typeof installationIn>;

/** The token of this installation: the configured one, else the one created on the first start, else a new one of 256 random bits. */
export const gatewayToken = (config: Config, installation: Installation): string =>
  config.gateway.token ?? installation.gateway()?.token ?? `natter_${randomBytes(32).toString('base64url')}`;

/** True if a process with this id exists. */
export const isAlive = (pid: number | undefined): boolean => {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
