import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { installationIn } from '../../../services/cli/installation.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { program } from '../host-process.ts';

/** `natter up` as a process of its own. */
export interface UpProcess {
  /** Resolves when `/readyz` says yes. Rejects with the end of its log if it ends before, or takes more than 90 s. */
  readonly ready: Promise<Ready>;
  /** Lines of its log, its broker's warnings among them. */
  readonly log: readonly string[];
  /** SIGKILL to it and to its broker; resolves when it is gone. */
  kill9(): Promise<void>;
}
export interface Ready {
  readonly url: string;
  readonly token: string;
  /** Since its start. */
  readonly readyMs: number;
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

export const startUp = (options: UpOptions): UpProcess => {
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
  const ready = untilReady(child, options.dataDir).then(
    (found) => ({ ...found, readyMs: performance.now() - began }),
    (error) => Promise.reject(new Error([errorMessage(error), ...printed.slice(-3), ...log.slice(-5)].join('\n      '))),
  );
  ready.catch(() => {});
  return {
    ready,
    log,
    kill9: async () => {
      for (const pid of [child.pid, ...childrenOf(child)]) if (pid !== undefined && pid > 1) kill(pid);
      await gone;
    },
  };
};

const untilReady = async (child: ChildProcess, dataDir: string): Promise<Omit<Ready, 'readyMs'>> => {
  const giveUpAt = performance.now() + patienceMs;
  while (performance.now() < giveUpAt) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('natter up ended before it was ready');
    const gateway = installationIn(dataDir).gateway();
    // Not that of the process before: its file outlives a power cut.
    if (gateway !== null && gateway.pid === child.pid) {
      const ready = await fetch(`${gateway.url}/readyz`).catch(() => null);
      if (ready?.ok === true) return { url: gateway.url, token: gateway.token };
    }
    await delay(20);
  }
  throw new Error(`not ready after ${patienceMs / 1_000} s`);
};

/** The broker among them. */
const childrenOf = ({ pid, exitCode, signalCode }: ChildProcess): readonly number[] =>
  exitCode === null && signalCode === null
    ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
    : [];

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
};
