import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The oldest nats-server version with the features we use: schedules, per-message TTL, priority groups, `persist_mode`. */
export const minimumServerVersion = '2.12.0';
/** The version the tests run on, preferred by installations. */
export const testedServerVersion = '2.15.1';

/** The version in the output of `nats-server --version`, such as `2.15.1`, or `null`. */
export const parseServerVersion = (text: string): string | null => /\bv?(\d+\.\d+\.\d+)/.exec(text)?.[1] ?? null;

/** True when `version` is at least `minimum`, compared by number. */
export const isNewEnough = (version: string, minimum: string = minimumServerVersion): boolean => {
  const [wanted, found] = [minimum.split('.').map(Number), version.split('.').map(Number)];
  for (const [index, least] of wanted.entries()) {
    const part = found[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
};

/** Runs a binary to get its version. `null` when it cannot be run or prints none. */
export const versionOfBinary = async (path: string): Promise<string | null> => {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 5_000 });
    return /nats-server/i.test(stdout) ? parseServerVersion(stdout) : null;
  } catch {
    return null;
  }
};
