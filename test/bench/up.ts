import { type ChildProcess, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processorMs } from './system.ts';

const token = 'bench-token-0123456789';
/** Lines of a request's head that every request has. */
export const head = `host: bench\r\nauthorization: Bearer ${token}\r\n`;

/** `natter up`, as a user starts it. */
export interface Up {
  /** Of its gateway. */
  readonly port: number;
  /** Processor time by now of it, its hosts and its broker, ms. */
  used(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

/** A port that nobody listens on. */
export const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const natter = fileURLToPath(new URL('../../services/cli/main.js', import.meta.url));

/** Starts it with so many hosts and a new data directory. `environment` says how its broker stores, or which one it uses. Waits until it is ready. */
export const startUp = async (
  hosts: number,
  environment: Readonly<Record<string, string>>,
  settings: object = {},
): Promise<Up> => {
  const port = await freePort();
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-bench-'));
  const NATTER_CONFIG = join(dataDir, 'bench.json');
  await writeFile(NATTER_CONFIG, JSON.stringify({ ...settings, gateway: { port, token, requestsPerMinute: 10_000_000 } }));
  const env = { ...process.env, NATTER_DATA_DIR: dataDir, NATTER_LOG_LEVEL: 'warn', NATTER_CONFIG, ...environment };
  const child = spawn(process.execPath, [natter, 'up', '--no-chat', '--hosts', String(hosts)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killed = (): void => void child.kill();
  process.once('exit', killed);
  await ready(child);
  const pid = child.pid ?? 0;
  return {
    port,
    used: async () => {
      const times: Record<string, number> = { 'natter up': await processorMs(pid) };
      for (const each of await childrenOf(pid)) {
        const program = (await readFile(`/proc/${each}/comm`, 'utf8')).trim();
        const name = { 'nats-server': 'broker', node: 'hosts' }[program];
        if (name !== undefined) times[name] = (times[name] ?? 0) + (await processorMs(each));
      }
      return times;
    },
    stop: async () => {
      process.off('exit', killed);
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

const ready = async ({ stdout }: ChildProcess): Promise<void> => {
  if (stdout === null) return;
  let said = '';
  for await (const [text] of on(stdout, 'data', { close: ['end'] })) {
    said += text;
    if (said.includes('natter is up')) break;
  }
  if (!said.includes('natter is up')) throw new Error(`natter up ended: ${said}`);
  stdout.resume();
};

const childrenOf = async (pid: number): Promise<number[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean).map(Number);
