import { access, constants, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isNewEnough, minimumServerVersion, versionOfBinary } from '../../../shared/adapters/nats/client/version.ts';
import { NatterError } from '../../../shared/kit/errors.ts';

/** A nats-server that may be used: its version was asked for and is new enough. */
export interface ServerBinary {
  readonly path: string;
  readonly version: string;
  readonly from: 'NATS_SERVER_BIN' | 'PATH' | 'cache';
}
/** The part of `process.env` that finding and installing a server reads: NATS_SERVER_BIN, PATH, XDG_CACHE_HOME, HOME, NATTER_NATS_MIRROR. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const serverFileName = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';

/** The folder that holds one folder per installed version. */
export const serverCacheDir = (environment: Environment): string =>
  join(environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache'), 'natter', 'nats-server');

const refusal = (path: string, version: string | null): string =>
  version === null
    ? `${path} is not a nats-server that can be run here`
    : `${path} is nats-server ${version}; Natter needs ${minimumServerVersion} or newer`;

/**
 * Finds a nats-server that is new enough: NATS_SERVER_BIN, then PATH, then our cache; `null` when there is none. One on PATH that is too
 * old is reported through `warn` and passed over. Throws `NatterError('unsupported')` when NATS_SERVER_BIN itself will not do.
 */
export const resolveServer = async (
  environment: Environment,
  warn: (message: string) => void = () => {},
): Promise<ServerBinary | null> =>
  (await fromVariable(environment)) ?? (await fromPath(environment, warn)) ?? (await fromCache(serverCacheDir(environment)));

const fromVariable = async ({ NATS_SERVER_BIN: path }: Environment): Promise<ServerBinary | null> => {
  if (!path) return null;
  const version = await versionOfBinary(path);
  if (version === null || !isNewEnough(version)) {
    const advice = 'point NATS_SERVER_BIN at a newer one, or unset it and run "natter nats install"';
    throw new NatterError('unsupported', `NATS_SERVER_BIN: ${refusal(path, version)}; ${advice}`);
  }
  return { path, version, from: 'NATS_SERVER_BIN' };
};

const fromPath = async ({ PATH }: Environment, warn: (message: string) => void): Promise<ServerBinary | null> => {
  for (const folder of (PATH ?? '').split(delimiter).filter((entry) => entry !== '')) {
    const path = join(folder, serverFileName);
    if (!(await isExecutable(path))) continue;
    const version = await versionOfBinary(path);
    if (version !== null && isNewEnough(version)) return { path, version, from: 'PATH' };
    warn(`${refusal(path, version)}; it is not used`);
  }
  return null;
};

/** The newest usable version in the cache. */
export const fromCache = async (cacheDir: string): Promise<ServerBinary | null> => {
  const versions = await readdir(cacheDir).catch(() => []);
  const newestFirst = versions.filter((name) => /^\d+\.\d+\.\d+$/.test(name)).sort((a, b) => (isNewEnough(a, b) ? -1 : 1));
  for (const name of newestFirst) {
    const path = join(cacheDir, name, serverFileName);
    const version = (await isExecutable(path)) ? await versionOfBinary(path) : null;
    if (version !== null && isNewEnough(version)) return { path, version, from: 'cache' };
  }
  return null;
};

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
