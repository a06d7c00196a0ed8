import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import { brokerAccount } from '../../../shared/wire/rights.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { usersFolder } from '../installation.ts';
import { takeDataLock } from './data-lock.ts';
import { type ServerProcess, serverConfigFile, startServerProcess } from './process.ts';
import { hasRoom } from './room.ts';
import { UnstoredWrites } from './unstored.ts';
import { accountConfig, makeUsers, serverUsers, usersIn } from './users.ts';

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

/**
 * Starts the broker of this installation and keeps it running, on one port as long as this process lives, so that clients reconnect.
 * Throws `NatterError('unavailable')` when another process uses the folder, or when the server does not start.
 */
export const startManagedServer = async (options: ManagedServerOptions): Promise<ManagedServer> => {
  const folder = join(options.dataDir, 'broker');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await takeDataLock(join(folder, 'lock'));
  const stopping = new AbortController();
  let problem: string | null = null;
  const unstored = new UnstoredWrites(() => performance.now());
  let warnings: string[] = [];
  const configFile = await prepare(options, folder).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });

  const hear = (line: string): void => {
    const { level, text } = entryOf(line);
    if (level !== 'debug') warnings = [...warnings.slice(1 - keptWarnings), text];
    options.log(level, `nats-server: ${text}`);
    unstored.hear(line);
  };
  const start = async (port: number): Promise<ServerProcess> => {
    const { binary, syncInterval } = options;
    unstored.forget();
    warnings = [];
    const started = await startServerProcess({
      binary,
      folder,
      port,
      syncInterval,
      configFile,
      log: hear,
    });
    await lock.noteServer(started.pid);
    return started;
  };
  let running = await start(options.port ?? 0).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
  const { port } = running;

  /** Starts it again and again, with growing pauses; one that ran for a while starts at once. */
  const watch = async (): Promise<void> => {
    let failures = 0;
    for (;;) {
      const since = performance.now();
      const reason = await running.exited;
      if (stopping.signal.aborted) return;
      if (performance.now() - since > steadyMs) failures = 0;
      problem = `nats-server ended (${reason}); it is being started again`;
      options.log('error', problem);
      options.onExit?.(reason);
      for (; problem !== null; failures += 1) {
        await delay(backoffMs(restarts, failures), undefined, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) return;
        try {
          running = await start(port);
          problem = null;
          options.onRestart?.(`nats://127.0.0.1:${port}`);
          if (stopping.signal.aborted) running.signal('SIGTERM');
        } catch (error) {
          problem = errorMessage(error);
          options.log('error', problem);
        }
      }
    }
  };
  /** It takes writes again only after a restart, which helps only once there is room (F26). */
  const restartUnstored = async (): Promise<void> => {
    for (let tries = 0; !stopping.signal.aborted; ) {
      await delay(backoffMs(unstoredRestarts, tries), undefined, { signal: stopping.signal }).catch(() => {});
      if (!unstored.wantsRestart()) tries = 0;
      if (!unstored.wantsRestart() || problem !== null || !(await hasRoom(folder))) continue;
      tries += 1;
      options.log('warn', 'nats-server is restarted: it did not store any more, and there is room again');
      const stuck = running;
      stuck.signal('SIGTERM');
      await Promise.race([stuck.exited, delay(stopMs, undefined, { ref: false })]);
      stuck.signal('SIGKILL');
    }
  };
  const watching = Promise.all([watch(), restartUnstored()]);

  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: () => running.pid,
    problems: () => {
      const away =
        problem === null ? null : new HealthProblem('broker_away', problem, 'wait; if it stays, see the log of natter up');
      return [away, unstored.problem()].filter((found) => found !== null);
    },
    warnings: () => warnings,
    stop: async () => {
      stopping.abort();
      running.signal('SIGTERM');
      const late = setTimeout(() => running.signal('SIGKILL'), stopMs);
      await running.exited;
      clearTimeout(late);
      await watching;
      await lock.release();
    },
  };
};

/** Makes what the server needs: the seeds of its users, its configuration, and a store that their account finds. */
const prepare = async ({ dataDir, prefix }: ManagedServerOptions, folder: string): Promise<string> => {
  makeUsers(usersFolder(dataDir));
  const account = accountConfig(serverUsers(usersIn(usersFolder(dataDir)), subjectsUnder(prefix)));
  await moveToAccount(join(folder, 'store', 'jetstream'));
  const file = join(folder, 'nats.conf');
  await writeFile(file, `${await readFile(serverConfigFile(), 'utf8')}\n${account}`, { mode: 0o600 });
  return file;
};

/** Before there were users, the streams were in the broker's default account, whose folder this is. */
const defaultAccount = '$G';

/** The server looks for an account's streams in the folder of its name. Moving it is one step, so that it is done or not. */
const moveToAccount = async (store: string): Promise<void> => {
  const [from, to] = [join(store, defaultAccount), join(store, brokerAccount)];
  if (!existsSync(from)) return;
  if (existsSync(to))
    throw new NatterError(
      'unavailable',
      `${from} and ${to} both have streams: an older version of Natter was started here after a newer one; move one of them away`,
    );
  await rename(from, to);
};

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
