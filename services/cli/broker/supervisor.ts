import { setTimeout as delay } from 'node:timers/promises';
import { assert } from '../../../shared/kit/assert.ts';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { takeDataLock } from './data-lock.ts';
import { type ServerProcess, startServerProcess } from './process.ts';
import { hasRoom } from './room.ts';
import { UnstoredWrites } from './unstored.ts';

export interface ManagedServerOptions {
  /** Path of a nats-server that `resolveServer` accepted. */
  readonly binary: string;
  /** The installation's folder; the broker keeps to `broker/` in it. */
  readonly dataDir: string;
  /** 0 or absent: a free one. */
  readonly port?: number;
  /** `always`, or a duration such as `2m`: what a power cut may take with it. */
  readonly syncInterval: string;
  /** The prefix that its users have rights under. */
  readonly prefix: string;
  readonly log: (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void;
  /** The server died and is being started again. */
  readonly onExit?: (reason: string) => void;
  /** It listens again, at the same address. */
  readonly onRestart?: (url: string) => void;
}

/** A nats-server of ours: started, watched and stopped by this process. It ends when we end, however we end. */
export interface ManagedServer {
  readonly url: string;
  readonly port: number;
  pid(): number;
  /** Empty while it runs and stores. */
  problems(): readonly HealthProblem[];
  /** The last warnings and errors in its log since it was started the last time. */
  warnings(): readonly string[];
  /** Stops it in good order (its store is written out) and frees the data folder. */
  stop(): Promise<void>;
}

/** Time for writing out the store on a stop. */
const stopMs = 10_000;
const restarts = { firstMs: 100, mostMs: 5_000 };
/** Between two restarts because it does not store; at first also how often the disk is looked at. */
const unstoredRestarts = { firstMs: 1_000, mostMs: 60_000 };
/** A broker that ran for so long has not failed at its start. */
const steadyMs = 30_000;
const keptWarnings = 100;

export interface SupervisorOptions extends ManagedServerOptions {
  readonly folder: string;
  readonly lock: Awaited<ReturnType<typeof takeDataLock>>;
  readonly configFile: string;
}

/** Keeps one server running. */
export class Supervisor implements ManagedServer {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  readonly #unstored = new UnstoredWrites(() => performance.now());
  #server: ServerProcess | undefined;
  #watching: Promise<unknown> | undefined;
  #problem: string | null = null;
  #warnings: string[] = [];
  #hasRebuilt = false;

  private constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  static async start(options: SupervisorOptions): Promise<Supervisor> {
    const supervisor = new Supervisor(options);
    await supervisor.#start(options.port ?? 0);
    supervisor.#watching = Promise.all([supervisor.#watch(), supervisor.#restartUnstored()]);
    return supervisor;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }
  get port(): number {
    return this.#running.port;
  }
  pid(): number {
    return this.#running.pid;
  }

  problems(): readonly HealthProblem[] {
    const problem = this.#problem;
    const away = problem && new HealthProblem('broker_away', problem, 'wait; if it stays, see the log of natter up');
    return [away, this.#unstored.problem()].filter((found) => found !== null && found !== '');
  }
  warnings(): readonly string[] {
    return this.#warnings;
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#stopping.abort();
    running.signal('SIGTERM');
    const late = setTimeout(() => running.signal('SIGKILL'), stopMs);
    await running.exited;
    clearTimeout(late);
    await this.#watching;
    await this.#options.lock.release();
  }

  get #running(): ServerProcess {
    assert(this.#server, 'a supervisor that is handed out has started its server');
    return this.#server;
  }

  async #start(port: number): Promise<void> {
    const { binary, syncInterval, folder, configFile, lock } = this.#options;
    this.#unstored.forget();
    this.#warnings = [];
    this.#hasRebuilt = false;
    const log = (line: string): void => this.#hear(line);
    // At once: whoever finds our lock stale must wait for the end of a server that still recovers its store as well.
    const spawned = lock.noteServer;
    this.#server = await startServerProcess({ binary, folder, port, syncInterval, configFile, log, spawned });
    if (this.#hasRebuilt) this.#options.log('info', recovered);
  }

  #hear(line: string): void {
    const { level, text } = entryOf(line);
    if (level !== 'debug') this.#warnings = [...this.#warnings.slice(1 - keptWarnings), text];
    const isRebuild = level === 'warn' && rebuilds.test(text);
    if (isRebuild) this.#hasRebuilt = true;
    this.#options.log(isRebuild ? 'debug' : level, `nats-server: ${text}`);
    this.#unstored.hear(line);
  }

  /** Starts it again and again, with growing pauses; one that ran for a while starts at once. */
  async #watch(): Promise<void> {
    const { log, onExit } = this.#options;
    let failures = 0;
    for (;;) {
      const since = performance.now();
      const reason = await this.#running.exited;
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - since > steadyMs) failures = 0;
      this.#problem = `nats-server ended (${reason}); it is being started again`;
      log('error', this.#problem);
      onExit?.(reason);
      for (; this.#problem !== null; failures += 1) {
        await this.#pause(backoffMs(restarts, failures));
        if (this.#stopping.signal.aborted) return;
        await this.#startAgain();
      }
    }
  }

  async #startAgain(): Promise<void> {
    const { log, onRestart } = this.#options;
    try {
      await this.#start(this.port);
      this.#problem = null;
      onRestart?.(this.url);
      if (this.#stopping.signal.aborted) this.#running.signal('SIGTERM');
    } catch (error) {
      this.#problem = errorMessage(error);
      log('error', this.#problem);
    }
  }

  /** It takes writes again only after a restart, which helps only once there is room (F26). */
  async #restartUnstored(): Promise<void> {
    const { folder, log } = this.#options;
    for (let tries = 0; !this.#stopping.signal.aborted; ) {
      await this.#pause(backoffMs(unstoredRestarts, tries));
      if (!this.#unstored.wantsRestart()) tries = 0;
      if (!this.#unstored.wantsRestart() || this.#problem !== null || !(await hasRoom(folder))) continue;
      tries += 1;
      log('warn', 'nats-server is restarted: it did not store any more, and there is room again');
      const stuck = this.#running;
      stuck.signal('SIGTERM');
      await Promise.race([stuck.exited, delay(stopMs, undefined, { ref: false })]);
      stuck.signal('SIGKILL');
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}

/** What nats-server says of each stream whose index is older than its messages, as all are after a `kill -9`. To a reader it looks like a loss. */
const rebuilds = /stream state outdated|recovering stream state from index errored|state is outdated; attempting to recover/i;
const recovered =
  'recovered: the broker had been killed, or had lost its power; it has read its stored messages again, and what is missing, if anything, is reported as a problem';

type Level = 'debug' | 'warn' | 'error';

/** Its chatter is for us to debug with; its warnings are for everybody. */
const levels: ReadonlyMap<string, Level> = new Map([
  ['WRN', 'warn'],
  ['ERR', 'error'],
  ['FTL', 'error'],
]);

/** A line is `[pid] date time [INF] text`. */
const entryOf = (line: string): { level: Level; text: string } => {
  const [, level = '', text = line] = /\[([A-Z]{3})\] (.*)$/.exec(line) ?? [];
  return { level: levels.get(level) ?? 'debug', text };
};
