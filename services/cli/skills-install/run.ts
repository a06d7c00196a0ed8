import { chmodSync, lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Clock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { programEnvironment } from '../../../shared/kit/process/environment.ts';
import { runProgram } from '../../../shared/kit/process/program.ts';
import { isWithin } from '../../../shared/runtime/skills/folder.ts';
import type { ToolPlaces } from '../../../shared/runtime/skills/places.ts';
import { unpack } from './archive.ts';
import { fetchFile } from './fetch.ts';
import type { DownloadPlan, InstallPlan, ProgramPlan } from './plan.ts';
import { withStaging } from './staging.ts';

export interface RunOptions {
  readonly places: ToolPlaces;
  /** The process's environment with our tools on its PATH. A package manager gets only the variables it needs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the progress so far. */
  progress(text: string): void;
}

/** Carries out a plan that somebody has approved (A15/170). Throws `NatterError`; a failed download leaves nothing behind. */
export const runPlan = async (plan: InstallPlan, options: RunOptions): Promise<void> => {
  mkdirSync(options.places.bin, { recursive: true, mode: 0o755 });
  if (plan.kind === 'download') await runDownload(plan, options);
  else await runManager(plan, options);
};

/**
 * Variables that a package manager gets besides PATH, LANG and HOME: how to reach the network, which certificates to trust, and
 * where to put temporary files.
 */
const managerVariables = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'TMPDIR'],
];

const runManager = async (
  { command, env: own }: ProgramPlan,
  { places, env, clock, signal, progress }: RunOptions,
): Promise<void> => {
  const given = programEnvironment(env, managerVariables, env.HOME ?? '/');
  const heard = (chunk: Buffer): void => {
    const line = chunk.toString().trim().split('\n').at(-1) ?? '';
    if (line !== '') progress(line.slice(0, 100));
  };
  const program = { command, cwd: places.root, env: { ...given, ...own }, timeoutMs: limits.installMs, heard };
  const { code, signal: by, timedOut, output } = await runProgram(program, signal, clock);
  signal.throwIfAborted();
  if (code === 0 && !timedOut) return;
  const how = timedOut
    ? `was stopped after ${limits.installMs / 1_000} s`
    : code === null
      ? `was ended by ${by}`
      : `ended with ${code}`;
  throw new NatterError('unavailable', `${command.join(' ')} ${how}:\n${output.trim().split('\n').slice(-20).join('\n')}`);
};

const bounds = { files: limits.archiveFiles, bytes: limits.archiveBytes, links: true };

const runDownload = (plan: DownloadPlan, { places, signal, progress }: RunOptions): Promise<void> =>
  withStaging(places.root, async ({ folder, place }) => {
    const file = join(folder, 'file');
    const content = join(folder, 'content');
    mkdirSync(content);
    const tell = (bytes: number, of: number | null) => progress(`${plan.file}: ${bytes}${of === null ? '' : ` of ${of}`} bytes`);
    const sha256 = await fetchFile({ url: plan.url, signal }, file, limits.downloadBytes, tell);
    if (plan.sha256 !== undefined && plan.sha256 !== sha256)
      throw new NatterError(
        'invalid',
        `${plan.url.href} is not what the skill expects: its SHA-256 is ${sha256}, not ${plan.sha256}`,
      );
    if (plan.archive === null) renameSync(file, join(content, plan.file));
    else await unpack(file, plan.archive, content, { ...bounds, strip: plan.strip });
    const programs = plan.bins.flatMap((bin) => programIn(content, bin) ?? []);
    for (const program of programs) {
      refuseTaken(join(places.bin, basename(program)), plan);
      chmodSync(join(content, program), 0o755);
    }
    place(content, plan.target);
    for (const program of programs) link(join(plan.target, program), join(places.bin, basename(program)));
  });

/** Refuses to replace a program that another skill or a package installed. */
const refuseTaken = (place: string, { home }: DownloadPlan): void => {
  const stat = lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined || (stat.isSymbolicLink() && isWithin(home, readlinkSync(place)))) return;
  throw new NatterError('invalid', `${place} is there already, and not of this skill; remove it first`);
};

/**
 * The relative path of the file with that name; the one nearest the root if there are several. Looks for a name only, never a
 * path, and does not follow links.
 */
const programIn = (folder: string, name: string): string | null => {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === name && entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort((one, other) => one.split('/').length - other.split('/').length);
  return found[0] ?? null;
};

const link = (file: string, place: string): void => {
  rmSync(place, { force: true });
  symlinkSync(file, place);
};
