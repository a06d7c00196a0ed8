import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { program } from '../host-process.ts';

/** `natter up` as a process of its own. */
export interface UpProcess {
  readonly url: string;
  readonly token: string;
  /** From its start until `/readyz` said yes. */
  readonly readyMs: number;
  /** Lines of its log, its broker's warnings among them. */
  readonly log: readonly string[];
  /** SIGKILL to it and to its broker; resolves when it is gone. */
  kill9(): Promise<void>;
}

export interface UpOptions {
  readonly dataDir: string;
  /** A broker of one's own; absent: the managed one. */
  readonly servers?: string;
}

const patienceMs = 90_000;

/** What every command of `natter` gets to work on this system. */
export const environmentOf = ({ dataDir, servers }: UpOptions): NodeJS.ProcessEnv => ({
  ...process.env,
  ...{ HOME: dataDir, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), NO_COLOR: '1' },
  ...{ NATTER_DATA_DIR: dataDir, NATTER_URL: '', NATTER_TOKEN: '', NATS_URL: servers ?? '' },
});

/** Starts it and waits until it is ready. Rejects with the end of its log if that takes more than 90 s. */
export const startUp = async (options: UpOptions): Promise<UpProcess> => {
  const began = performance.now();
  const child = spawn(process.execPath, [program(), 'up', '--no-chat', '--port', '0'], {
    env: environmentOf(options),
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed, log]: [string[], string[]] = [[], []];
  createInterface({ input: child.stdout }).on('line', (line) => printed.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const gone = once(child, 'close');
  const kill9 = async (broker: number | null): Promise<void> => {
    child.kill('SIGKILL');
    if (broker !== null && existsSync(`/proc/${broker}`)) process.kill(broker, 'SIGKILL');
    await gone;
  };
  try {
    const { url, token } = await untilReady(child, printed);
    const readyMs = performance.now() - began;
    // Now: a disk without power is not read any more.
    const broker = brokerOf(options.dataDir);
    return { url, token, readyMs, log, kill9: () => kill9(broker) };
  } catch (error) {
    await kill9(brokerOf(options.dataDir));
    throw new Error([String(error), ...printed.slice(-3), ...log.slice(-5)].join('\n      '));
  }
};

const untilReady = async (child: ChildProcess, printed: readonly string[]): Promise<{ url: string; token: string }> => {
  const giveUpAt = performance.now() + patienceMs;
  while (performance.now() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`natter up ended with ${child.exitCode}`);
    const url = wordAfter(printed, 'natter is up');
    const token = wordAfter(printed, 'token');
    const ready = url === null ? null : await fetch(`${url}/readyz`).catch(() => null);
    if (url !== null && token !== null && ready?.ok === true) return { url, token };
    await delay(20);
  }
  throw new Error(`not ready after ${patienceMs / 1_000} s`);
};

const wordAfter = (lines: readonly string[], start: string): string | null =>
  lines
    .map((line) => line.trim())
    .find((line) => line.startsWith(start))
    ?.slice(start.length)
    .trim() ?? null;

/** The process of the managed broker: the second line of the lock. */
const brokerOf = (dataDir: string): number | null => {
  const file = join(dataDir, 'broker', 'lock');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[1]?.split(' ')[0]) : Number.NaN;
  return Number.isInteger(pid) && pid > 1 ? pid : null;
};
