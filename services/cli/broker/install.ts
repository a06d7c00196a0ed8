import { chmod, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isNewEnough, minimumServerVersion, versionOfBinary } from '../../../shared/adapters/nats/client/version.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { Terminal } from '../terminal.ts';
import { fetchFromApt } from './from-apt.ts';
import { fetchFromPackageManager } from './from-package-manager.ts';
import { fetchFromRelease } from './from-release.ts';
import { type Environment, fromCache, resolveServer, type ServerBinary, serverCacheDir, serverFileName } from './resolve.ts';

/** Where a person sees what is being done: lines that stay, and what is under way. */
export type Progress = Pick<Terminal, 'note' | 'progress'>;
/** What a way to get the program may use. `folder` is empty and is removed afterwards. */
interface FetchContext {
  readonly environment: Environment;
  readonly folder: string;
  readonly progress: Progress;
}
/** Gets the program and returns its path, or `null` when this way does not apply to this machine. Throws when it applies but fails. */
export type Fetch = (context: FetchContext) => Promise<string | null>;

const ways: readonly { readonly name: string; readonly fetch: Fetch }[] = [
  { name: "the distribution's archive", fetch: fetchFromApt },
  { name: 'the package manager', fetch: fetchFromPackageManager },
  { name: "the project's release", fetch: fetchFromRelease },
];

/** A nats-server that is new enough: found on this machine, or else installed into our cache. Throws `NatterError('unsupported')`. */
export const obtainServer = async (environment: Environment, progress: Progress): Promise<ServerBinary> =>
  (await resolveServer(environment, progress.note)) ?? (await installServer(environment, progress));

/**
 * Installs nats-server into our cache, without rights and without touching the system's packages where that is possible. Several may do
 * it at once: each works in a folder of its own and the finished one is moved into place. Throws `NatterError('unsupported')`.
 */
export const installServer = async (environment: Environment, progress: Progress): Promise<ServerBinary> => {
  const cacheDir = serverCacheDir(environment);
  await mkdir(cacheDir, { recursive: true });
  progress.note('Natter needs nats-server, the message broker. Fetching it, once; this takes up to a minute:');
  const failures: string[] = [];
  for (const { name, fetch } of ways) {
    const folder = await mkdtemp(join(cacheDir, '.install-'));
    try {
      const path = await fetch({ environment, folder, progress });
      if (path === null) continue;
      await keep(path, cacheDir);
      const installed = await fromCache(cacheDir);
      if (installed === null) throw new Error('it cannot be run from the cache');
      progress.note(`nats-server ${installed.version} is in ${installed.path}`);
      return installed;
    } catch (error) {
      failures.push(`${name}: ${errorMessage(error)}`);
      progress.note(`${name} did not help: ${errorMessage(error)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw new NatterError('unsupported', helpWithout(failures));
};

/** Moves a program into the cache under its version. */
const keep = async (path: string, cacheDir: string): Promise<void> => {
  const version = await versionOfBinary(path);
  if (version === null) throw new Error('the program it has cannot be run on this machine');
  if (!isNewEnough(version)) throw new Error(`it has nats-server ${version}; ${minimumServerVersion} or newer is needed`);
  const staged = await mkdtemp(join(cacheDir, '.staged-'));
  await copyFile(path, join(staged, serverFileName));
  await chmod(join(staged, serverFileName), 0o755);
  // A folder is in place already when another process was faster, or an older copy was damaged: the program is then replaced in one step.
  const place = join(cacheDir, version);
  await mkdir(place, { recursive: true });
  await rename(join(staged, serverFileName), join(place, serverFileName));
  await rm(staged, { recursive: true, force: true });
};

const helpWithout = (failures: readonly string[]): string =>
  [
    `no nats-server ${minimumServerVersion} or newer is here, and none could be installed.`,
    ...failures.map((failure) => `  ${failure}`),
    'Do one of these:',
    '  - install nats-server so that it is on PATH (Homebrew: "brew install nats-server"), or set NATS_SERVER_BIN to its path;',
    '  - set NATTER_NATS_MIRROR to the address of a copy of the releases, then run "natter nats install";',
    '  - use a broker that runs elsewhere: set NATS_URL.',
  ].join('\n');
