import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import { NatterError } from '../../../shared/kit/errors.ts';

/** Keeps a data folder to one running system. The file holds who has it and which broker they started. */
export interface DataLock {
  /** Notes the broker's process, so that whoever finds our lock stale can wait for its end. */
  noteServer(pid: number): Promise<void>;
  release(): Promise<void>;
}

/** A process, told apart from a later one with the same number where the system lets us (Linux). */
interface Holder {
  readonly pid: number;
  readonly startedAt: string;
}

/** Longest wait for the broker of a system that was killed; it is told to stop when its parent goes. */
const orphanMs = 10_000;

/** Takes the lock, also one that a killed process left behind. Throws `NatterError('unavailable')` while another holds it. */
export const takeDataLock = async (file: string): Promise<DataLock> => {
  const own = await describe(process.pid);
  while (!(await createLock(file, [own]))) {
    const found = await readFile(file, 'utf8').catch(() => '');
    const [holder, server] = parse(found);
    if (holder && (await isRunning(holder)))
      throw new NatterError(
        'unavailable',
        `the data folder is in use by process ${holder.pid} (${file}); chat with it (natter chat), stop it first, or use another folder (--data-dir)`,
      );
    if (server) await untilGone(server);
    await removeStale(file, found);
  }
  return {
    noteServer: async (pid) => replace(file, [own, await describe(pid)]),
    release: () => rm(file, { force: true }),
  };
};

const render = (holders: readonly Holder[]): string => holders.map(({ pid, startedAt }) => `${pid} ${startedAt}\n`).join('');
const parse = (text: string): Holder[] =>
  text
    .split('\n')
    .map((line) => /^(\d+) (.*)$/.exec(line))
    .flatMap((match) => (match ? [{ pid: Number(match[1]), startedAt: match[2] ?? '' }] : []));

/** Makes the file with its content in one step. False when there is one already. */
const createLock = async (file: string, holders: readonly Holder[]): Promise<boolean> => {
  const draft = `${file}.${uuidv7()}`;
  await writeFile(draft, render(holders), { mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
};

const replace = async (file: string, holders: readonly Holder[]): Promise<void> => {
  const draft = `${file}.${uuidv7()}`;
  await writeFile(draft, render(holders), { mode: 0o600 });
  await rename(draft, file);
};

/** Takes a stale file away, and puts it back when it turns out to be the new lock of a process that was faster. */
const removeStale = async (file: string, stale: string): Promise<void> => {
  const aside = `${file}.${uuidv7()}`;
  const moved = await rename(file, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  if ((await readFile(aside, 'utf8')) !== stale) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
};

/** The start time in the process table, in ticks since boot; empty where there is none to read. */
const describe = async (pid: number): Promise<Holder> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const afterName = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid, startedAt: afterName[0] === 'Z' ? 'gone' : (afterName[19] ?? '') };
};

const isRunning = async ({ pid, startedAt }: Holder): Promise<boolean> => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  const now = await describe(pid);
  return startedAt === '' || now.startedAt === startedAt;
};

const untilGone = async (server: Holder): Promise<void> => {
  for (let waitedMs = 0; waitedMs < orphanMs; waitedMs += 50) {
    if (!(await isRunning(server))) return;
    await delay(50);
  }
  throw new NatterError(
    'unavailable',
    `nats-server of an earlier start (process ${server.pid}) still runs on this data folder; stop it first`,
  );
};
