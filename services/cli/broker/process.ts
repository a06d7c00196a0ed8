import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NatterError } from '../../../shared/kit/errors.ts';
import { storeLimitOf } from './room.ts';

/** What one run of nats-server needs. `folder` is its own: the store, and the file that tells the port, are in there. */
export interface ServerProcessOptions {
  readonly binary: string;
  readonly folder: string;
  /** 0: any free port. */
  readonly port: number;
  readonly syncInterval: string;
  /** `nats.conf` with the users added. */
  readonly configFile: string;
  /** Further arguments, for a cluster. No secrets: a command line is public. */
  readonly arguments?: readonly string[];
  /** One line of the server's log. */
  readonly log: (line: string) => void;
  /** It has been spawned, and does not listen yet. */
  readonly spawned?: (pid: number) => Promise<void>;
}

export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the process is gone, with the reason in words. */
  readonly exited: Promise<string>;
  signal(name: NodeJS.Signals): void;
}

/** Least and most time a server gets to recover its store and listen; recovering five million subjects takes 6 s. */
const readyMs = 60_000;

/** Starts nats-server and waits until it listens. Throws `NatterError('unavailable')` with the log's end when it does not. */
export const startServerProcess = async (options: ServerProcessOptions): Promise<ServerProcess> => {
  const portsDir = join(options.folder, 'ports');
  await rm(portsDir, { recursive: true, force: true });
  await mkdir(portsDir, { recursive: true, mode: 0o700 });
  const child = spawnServer(options, portsDir, await storeLimitOf(options.folder));
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    if (stream)
      createInterface({ input: stream }).on('line', (line) => {
        lastLines.push(line);
        if (lastLines.length > 5) lastLines.shift();
        options.log(line);
      });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    // Not "exit": the last lines of its log come before this.
    child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  const pid = child.pid;
  if (pid === undefined) throw new NatterError('unavailable', `nats-server cannot be started: ${await exited}`);
  endWithUs(pid, exited);
  await options.spawned?.(pid);
  const port = await Promise.race([portFrom(portsDir), exited.then(() => null)]);
  if (port === null) {
    if (child.exitCode === null) child.kill('SIGKILL');
    throw new NatterError('unavailable', `nats-server did not start (${await exited}): ${lastLines.join(' | ')}`);
  }
  return { pid, port, exited, signal: (name) => void child.kill(name) };
};

/** The values of `nats.conf` go in the environment as JSON: a bare `12ab` would be read as a number. */
const spawnServer = (options: ServerProcessOptions, portsDir: string, storeBytes: number): ChildProcess =>
  spawn(
    options.binary,
    ['-c', options.configFile, '-p', String(options.port || -1), '--ports_file_dir', portsDir, ...(options.arguments ?? [])],
    {
      // An own process group: Ctrl-C in a terminal reaches us alone, and we stop the server when its clients are gone.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        NATTER_BROKER_STORE: JSON.stringify(join(options.folder, 'store')),
        NATTER_BROKER_SYNC: JSON.stringify(options.syncInterval),
        NATTER_BROKER_STORE_BYTES: String(storeBytes),
      },
    },
  );

/** The nearest `nats.conf` above this file: the project root, from the sources and from `dist` alike. */
export const serverConfigFile = (): string => {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'nats.conf'))) return join(folder, 'nats.conf');
  throw new NatterError('unavailable', `nats.conf is in no folder above ${here}`);
};

/**
 * Ends the server when this process is gone, however it went: a shell waits on a pipe whose other end only we hold. It wakes a stopped
 * server first. Without a POSIX shell the server outlives a killed parent, and the lock of the data folder tells.
 */
const endWithUs = (pid: number, exited: Promise<string>): void => {
  if (process.platform === 'win32') return;
  const script = 'cat >/dev/null; kill -CONT "$0"; kill -TERM "$0"; sleep 5; kill -KILL "$0"';
  const watcher = spawn('/bin/sh', ['-c', script, String(pid)], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  if ('unref' in watcher.stdin && typeof watcher.stdin.unref === 'function') watcher.stdin.unref();
  void exited.then(() => watcher.kill('SIGKILL'));
};

/** Waits for the ports file, which the server writes when it listens. `null` when it did not come in time. */
const portFrom = async (portsDir: string): Promise<number | null> => {
  const deadline = performance.now() + readyMs;
  while (performance.now() < deadline) {
    const file = (await readdir(portsDir)).find((name) => name.endsWith('.ports'));
    const port = file === undefined ? undefined : readPort(await readFile(join(portsDir, file), 'utf8'));
    if (port !== undefined) return port;
    await delay(2);
  }
  return null;
};

const readPort = (text: string): number | undefined => {
  const port = /"nats":\s*\["(?:nats|tls):\/\/[^"]*:(\d+)"/.exec(text)?.[1];
  return port === undefined ? undefined : Number(port);
};
