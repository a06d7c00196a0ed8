import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testedServerVersion } from '../../../shared/adapters/nats/client/version.ts';
import type { Fetch } from './install.ts';
import { serverFileName } from './resolve.ts';
import { run } from './run.ts';

/** The releases of the project. NATTER_NATS_MIRROR replaces this with the address of a copy. */
const releases = 'https://github.com/nats-io/nats-server/releases/download';
/** The archive is about 7 MB; far more is not what we asked for. */
const archiveBytesMax = 64 * 1024 * 1024;

const platforms: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows', freebsd: 'freebsd' };
const architectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  arm: 'arm7',
  ia32: '386',
  s390x: 's390x',
};

/** The archive of the version we test with, checked against the release's list of checksums. */
export const fetchFromRelease: Fetch = async ({ environment, folder, progress }) => {
  const [platform, architecture] = [platforms[process.platform], architectures[process.arch]];
  if (platform === undefined || architecture === undefined) return null;
  const name = `nats-server-v${testedServerVersion}-${platform}-${architecture}`;
  const archive = `${name}.${platform === 'windows' ? 'zip' : 'tar.gz'}`;
  const base = `${environment.NATTER_NATS_MIRROR || releases}/v${testedServerVersion}`;

  progress.note(`  about 7 MB from ${new URL(base).host}, release ${testedServerVersion};`);
  progress.note('  its checksum is compared with the list of the release, and nothing else on this machine changes.');
  const checksums = Buffer.from(await download(`${base}/SHA256SUMS`)).toString('utf8');
  const bytes = await download(`${base}/${archive}`, (text) => progress.progress(`downloading nats-server: ${text}`));
  const wanted = checksumOf(checksums, archive);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (wanted !== found) throw new Error(`${archive} has the checksum ${found}; its release says ${wanted ?? 'nothing about it'}`);
  await writeFile(join(folder, archive), bytes);
  await run('tar', ['-xf', archive], { folder, timeoutMs: 60_000 });
  return join(folder, name, serverFileName);
};

/** The checksum of a file in the format of `sha256sum`. */
export const checksumOf = (checksums: string, file: string): string | undefined =>
  checksums
    .split('\n')
    .map((line) => line.trim().split(/\s+\*?/))
    .find(([, name]) => name === file)?.[0];

/** `progressed` hears of each part how much there is. */
const download = async (url: string, progressed: (text: string) => void = () => {}): Promise<Uint8Array> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(180_000) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const all = Number(response.headers.get('content-length') ?? 0);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > archiveBytesMax) throw new Error(`${url} has more than the ${archiveBytesMax} bytes that were expected`);
    progressed(all === 0 ? megabytes(bytes) : `${megabytes(bytes)} of ${megabytes(all)}`);
  }
  return Buffer.concat(parts);
};
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
