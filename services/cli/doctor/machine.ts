import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { type Finding, fail, ok, warn } from '../../../shared/runtime/doctor/finding.ts';
import { usersFolder } from '../installation.ts';

/** Checks of this machine. */

const leastNode = { major: 20, minor: 19 };
const gigabyte = 1024 ** 3;
/** Free bytes on a disk: below the first a warning, below the second a failure, because a write may fail at any time. */
const disk = { warnBytes: 5 * gigabyte, failBytes: gigabyte } as const;

export const nodeVersion = (version: string): Finding => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > leastNode.major || (major === leastNode.major && minor >= leastNode.minor);
  return isEnough ? ok('node', version) : fail('node', version, `install Node ${leastNode.major}.${leastNode.minor} or newer`);
};

/** Room on a disk. */
export const freeSpace = (what: string, where: string, freeBytes: number): Finding => {
  const detail = `${where}: ${(freeBytes / gigabyte).toFixed(1)} GB free`;
  if (freeBytes >= disk.warnBytes) return ok(what, detail);
  const level = freeBytes < disk.failBytes ? fail : warn;
  return level(what, detail, 'free some space: a full disk stops every write');
};

/** The data directory exists, is writable and has space. Throws if it is not writable. */
export const dataDirectory = (dataDir: string): Finding => {
  if (!existsSync(dataDir)) return fail('data', `${dataDir} does not exist yet`, 'start natter up once, or set NATTER_DATA_DIR');
  accessSync(dataDir, constants.W_OK);
  const { bavail, bsize } = statfsSync(dataDir);
  return freeSpace('disk', dataDir, Number(bavail) * Number(bsize));
};

/** Hosts that share a broker must share the key of their snapshots, or each believes only those of its own machine. */
export const snapshotKey = ({ nats }: Pick<Config, 'nats'>): Finding => {
  if (nats.url === undefined || nats.snapshotKeyFile !== undefined) return ok('snapshots', 'all hosts have one key');
  const fix = 'with hosts on several machines, give all of them one key: nats.snapshotKeyFile';
  return warn('snapshots', 'each machine believes only its own, and loads other sessions from the whole log', fix);
};

/** Files with secrets that other users can read (I12). The configuration may be elsewhere, and may have no secrets. */
export const secretFiles = (dataDir: string, config?: { path: string; secrets: readonly string[] }): Finding => {
  const users = usersFolder(dataDir);
  const seeds = existsSync(users) ? readdirSync(users).map((name) => join(users, name)) : [];
  const names = ['natter.json', 'gateway.json', 'broker.json', 'snapshot-key.pem'];
  const own = [...names.map((name) => join(dataDir, name)).filter(existsSync), ...seeds];
  const files = [...own, ...(config && !own.includes(config.path) && hasSecrets(config) ? [config.path] : [])];
  const open = process.platform === 'win32' ? [] : files.filter((file) => (statSync(file).mode & 0o077) !== 0);
  return open.length === 0
    ? ok('secrets', 'only this user can read them')
    : fail('secrets', `other users can read ${open.join(', ')}`, `chmod 600 ${open.join(' ')}`);
};

const hasSecrets = ({ path, secrets }: { path: string; secrets: readonly string[] }): boolean => {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return secrets.some((secret) => secret !== '' && text.includes(secret));
};
