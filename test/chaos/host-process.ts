import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A service in a process of its own, as a supervisor sees it: it can be ended in any way and started again. */
export interface ServiceProcess {
  readonly pid: number;
  readonly running: boolean;
  /** Metrics of all its lives that ended in order, summed up. A killed one cannot tell. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Lines it logged as errors. */
  readonly errors: readonly string[];
  /** Starts it and waits until it says that it is ready. */
  start(): Promise<void>;
  /** SIGKILL, and waits until it is gone. */
  kill9(): Promise<void>;
  /** SIGSTOP: alive, connected, and silent. */
  pause(): void;
  resume(): void;
  /** SIGTERM; how it ended and after how many ms. */
  stop(): Promise<{ readonly code: number | null; readonly tookMs: number }>;
}

/** The built program, from the sources and from `dist` alike. */
export const program = (): string => {
  const path = fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? '../../dist/services/cli/main.js' : '../../services/cli/main.js', import.meta.url),
  );
  if (!existsSync(path)) throw new Error('the program is not built: npm run build');
  return path;
};

const readyMs = 120_000;

/** One `natter service NAME`, not yet started. */
export const serviceProcess = (name: 'session' | 'checkpoint', environment: Readonly<Record<string, string>>): ServiceProcess => {
  const metrics: Record<string, number> = {};
  const errors: string[] = [];
  let child: ChildProcess | null = null;

  const read = (line: string): void => {
    const entry = fieldsOf(line);
    if (entry.level === 'error' || entry.level === 'fatal') errors.push(`${entry.msg}: ${entry.reason ?? entry.problem ?? ''}`);
    if (entry.msg !== 'stopping') return;
    for (const [field, value] of Object.entries(entry))
      if (typeof value === 'number' && field !== 'pid') metrics[field] = (metrics[field] ?? 0) + value;
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return ending?.exitCode ?? null;
    const gone = once(ending, 'close');
    ending.kill(signal);
    ending.kill('SIGCONT');
    const [code] = await gone;
    return code;
  };

  return {
    get pid() {
      return child?.pid ?? 0;
    },
    get running() {
      return child !== null;
    },
    metrics,
    errors,
    start: async () => {
      const env = { ...process.env, NATTER_LOG_LEVEL: 'info', ...environment };
      const started = fork(program(), ['service', name], { env, stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
      child = started;
      if (started.stderr) createInterface({ input: started.stderr }).on('line', read);
      const failed = once(started, 'exit').then(([code, signal]) =>
        Promise.reject(new Error(`natter service ${name} ended at its start: ${signal ?? code}; ${errors.at(-1) ?? ''}`)),
      );
      failed.catch(() => {});
      const signal = AbortSignal.timeout(readyMs);
      const ready = once(started, 'message', { signal }).catch((cause: unknown) => {
        throw new Error(`natter service ${name} was not ready after ${readyMs / 1_000} s; ${errors.at(-1) ?? ''}`, { cause });
      });
      await Promise.race([ready, failed]);
    },
    kill9: async () => void (await end('SIGKILL')),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    stop: async () => {
      const began = performance.now();
      const code = await end('SIGTERM');
      return { code, tookMs: performance.now() - began };
    },
  };
};

const fieldsOf = (line: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
};
