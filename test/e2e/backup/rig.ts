import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { backUp } from '../../../services/cli/backup/back-up.ts';
import { checkBackup } from '../../../services/cli/backup/check-backup.ts';
import type { ListedErasure } from '../../../services/cli/backup/erasure-list.ts';
import type { Manifest } from '../../../services/cli/backup/manifest.ts';
import { type RestoreReport, runRestore } from '../../../services/cli/backup/run-restore.ts';
import { withBroker } from '../../../services/cli/runtime/broker.ts';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { startDelivery } from '../../../services/delivery/main.ts';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { type Config, configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';

export const partitions = 4;
/** A broker of one's own: its consumers must outlive its restarts. */
export const configAt = (url: string, more: object = {}): Config => configSchema.parse({ nats: { url, partitions }, ...more });

/** All services but the gateway, on one broker; what they deliver goes into `sent`. */
export const startServices = async (url: string, config = configAt(url)) => {
  const ports: Ports = await openNats(config, { name: 'test', clock: systemClock, servers: url });
  const log = pino({ level: 'silent' });
  const sent: Outbound[] = [];
  const send = async (outbound: Outbound) => {
    sent.push(outbound);
    return { kind: 'sent' } as const;
  };
  const outlets = [{ channel: 'hook', idempotent: true, send }];
  const services = [
    await startSession({ config, ports, log, member: 'session', env: {}, recoveryEveryMs: 100 }),
    await startRouter({ config: fixed(config), ports, log, member: 'router' }),
    await startCheckpoint({ ports, log, member: 'checkpoint' }),
    await startDelivery({ config: fixed(config), ports, log, member: 'delivery', outlets }),
  ];
  return {
    ports,
    sent,
    problems: () => [...ports.problems(), ...services.flatMap((service) => service.problems())],
    stop: async () => {
      await Promise.all(services.map((service) => service.stop(2_000)));
      await ports.close();
    },
  };
};
export type Services = Awaited<ReturnType<typeof startServices>>;

export const eventsOf = async ({ events }: Ports, key: string): Promise<SessionEvent[]> => {
  const found: SessionEvent[] = [];
  for await (const commit of events.read(key as SessionKey)) found.push(...commit.events);
  return found;
};

export const backUpTo = (folder: string, url: string, erasures: readonly ListedErasure[] = []): Promise<Manifest> =>
  withBroker(configAt(url), { servers: url }, 'backup', (connection) =>
    backUp({ connection, config: configAt(url), folder, version: '0', erasures, now: Date.now, progress: () => {} }),
  );

export const restoreFrom = async (
  folder: string,
  url: string,
  erasures: readonly ListedErasure[] = [],
): Promise<RestoreReport> => {
  const config = configAt(url);
  const backup = await checkBackup(folder, config, erasures);
  return runRestore({ config, address: { servers: url }, folder, backup, actor: 'operator:olga', progress: () => {} });
};

/** A folder that is removed in the end. */
export const freshFolder = async (): Promise<{ path: string; remove(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), 'natter-backup-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
};
