import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { backUp } from '../../../services/cli/backup/back-up.ts';
import { checkBackup } from '../../../services/cli/backup/check-backup.ts';
import { runRestore } from '../../../services/cli/backup/run-restore.ts';
import { withBroker } from '../../../services/cli/runtime/broker.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Commit } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { startServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';
import type { Row } from '../table.ts';

const [sessions, commitsEach, eventsEach] = [2_000, 50, 10];
const partitions = 64;
const said = 'A message of usual length, as people write them to each other all day long.';

/** A log of a million events: backed up, checked without a broker, and restored into an empty broker with all comparisons. */
export const backup = async (): Promise<Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'natter-bench-'));
  const dir = join(folder, 'backup');
  const old = await startServer();
  const server = await startServer();
  try {
    await provisionFor(old, { partitions });
    await fill(old.url);
    const config = configAt(old.url);
    const options = { config, folder: dir, version: 'bench', erasures: [], now: Date.now, progress: () => {} };
    const connected = <T>(work: Parameters<typeof withBroker<T>>[3]) => withBroker(config, { servers: old.url }, 'bench', work);
    const [backupMs, manifest] = await timed(() => connected((connection) => backUp({ connection, ...options })));
    const target = configAt(server.url);
    const [checkMs, checked] = await timed(() => checkBackup(dir, target));
    const address = { servers: server.url };
    const request = { config: target, address, folder: dir, backup: checked, actor: 'bench', progress: () => {} };
    const [restoreMs] = await timed(() => runRestore(request));
    const { events, commits } = manifest.log;
    const sizes = await Promise.all((await readdir(dir)).map(async (name) => (await stat(join(dir, name))).size));
    const rate = (ms: number): number => (events * 1_000) / ms;
    return [
      {
        what: `size of ${commits} commits (${events} events)`,
        value: sizes.reduce((sum, size) => sum + size) / 1024 ** 2,
        unit: 'MB',
      },
      { what: 'backup, chain checked', value: rate(backupMs), unit: 'events/s' },
      { what: 'check without a broker', value: rate(checkMs), unit: 'events/s' },
      { what: 'restore, compared (synced once)', value: rate(restoreMs), unit: 'events/s' },
      { what: 'check and restore', value: (checkMs + restoreMs) / 1_000, unit: 's' },
      { what: 'memory of this process', value: process.memoryUsage.rss() / 1024 ** 2, unit: 'MB' },
    ];
  } finally {
    await Promise.all([old.stop(), server.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
};

const configAt = (url: string) => {
  const config = configSchema.parse({ nats: { url, partitions } });
  return { ...config, dataDir: tmpdir(), session: { ...config.session, timeZone: 'UTC' } };
};

const timed = async <T>(work: () => Promise<T>): Promise<[ms: number, result: T]> => {
  const began = performance.now();
  const result = await work();
  return [performance.now() - began, result];
};

const fill = async (url: string): Promise<void> => {
  const ports = await openNats(configAt(url), { name: 'bench', clock: systemClock, servers: url });
  const keys = Array.from({ length: sessions }, (_, n) => `agent:main:bench:${n}` as SessionKey).values();
  const worker = async (): Promise<void> => {
    for (const key of keys) {
      let [last, prev]: [number, string | null] = [0, null];
      for (let rev = 1; rev <= commitsEach; rev++) {
        const result = await ports.events.append(commitOf(key, rev, prev), last);
        if (result.kind !== 'stored') throw new Error(`not stored: ${JSON.stringify(result)}`);
        [last, prev] = [result.seq, result.digest];
      }
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  await ports.close();
};

const commitOf = (key: SessionKey, rev: number, prev: string | null): Commit => {
  const id = uuidv7();
  const event = (n: number) => ({ type: 'session_deactivated', v: 1, reason: `${n} ${said}` }) as const;
  const ids = { id, correlationId: id, causationId: id, command: { id, seq: null, incarnation: null } };
  const events = Array.from({ length: eventsEach }, (_, n) => event(n));
  return { ...ids, v: 2, key, rev, prev, sessionId: 'bench', epoch: 0, at: Date.now(), actor: 'bench', events };
};
