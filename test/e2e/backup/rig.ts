import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { backUp } from '../../../services/cli/backup/back-up.ts';
import { checkBackup } from '../../../services/cli/backup/check-backup.ts';
import type { ListedErasure } from '../../../services/cli/backup/erasure-list.ts';
import type { Manifest } from '../../../services/cli/backup/manifest.ts';
import { type RestoreReport, runRestore } from '../../../services/cli/backup/run-restore.ts';
import { withBroker } from '../../../services/cli/runtime/broker.ts';
import { startDelivery } from '../../../services/delivery/main.ts';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { InboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { route } from '../../../shared/domain/routing/route.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { afterwards } from '../../support/afterwards.ts';
import { startCluster, startServer, type TestCluster, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

const partitions = 4;
/** What an installation at this broker writes beside it. */
const dataDirAt = (url: string): string => join(tmpdir(), `natter-backup-${new URL(serversIn(url)[0] ?? url).port}`);
const serversIn = (url: string): string[] => url.split(',');

/** A broker of one's own: its consumers must outlive its restarts. */
export const configAt = (url: string): Config => {
  const config = configSchema.parse({
    nats: { url, partitions, replicas: serversIn(url).length },
    session: { dmScope: 'per-channel-peer' },
    outlets: { webhooks: { hook: { url: 'http://127.0.0.1:9/', secret: 'not used' } } },
  });
  return { ...config, dataDir: dataDirAt(url), session: { ...config.session, timeZone: 'UTC' } };
};

type Part = 'session' | 'router' | 'checkpoint' | 'delivery';
const all: readonly Part[] = ['session', 'router', 'checkpoint', 'delivery'];

/** The services on one broker, without a gateway; what they deliver goes into `sent`. */
export const startServices = async (url: string, parts: readonly Part[] = all) => {
  const config = configAt(url);
  const ports: Ports = await openNats(config, { name: 'test', clock: systemClock, servers: url });
  const log = pino({ level: 'silent' });
  const sent: Outbound[] = [];
  const send = async (outbound: Outbound) => {
    sent.push(outbound);
    return { kind: 'sent' } as const;
  };
  const outlets = [{ channel: 'hook', unknownSend: { by: 'key' as const }, send }];
  const starting: Readonly<Record<Part, () => Promise<Service>>> = {
    session: () => startSession({ config, ports, log, member: 'session', env: {}, recoveryEveryMs: 100 }),
    router: () => startRouter({ config: fixed(config), ports, log, member: 'router' }),
    checkpoint: () => startCheckpoint({ ports, log, member: 'checkpoint' }),
    delivery: () => startDelivery({ config: fixed(config), ports, log, member: 'delivery', outlets }),
  };
  const services: Service[] = [];
  for (const part of parts) services.push(await starting[part]());
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.stop(2_000)));
    await ports.close();
  };
  return {
    ports,
    sent,
    problems: () => [...ports.problems(), ...services.flatMap((service) => service.problems())],
    stop: () => (stopped ??= stop()),
  };
};
export type Services = Awaited<ReturnType<typeof startServices>>;

/** The brokers of this file, for their users. */
const known = new Map<string, Pick<TestServer, 'as'>>();
const addressOf = (url: string, user: 'backup' | 'restorer') => known.get(url)?.as(user) ?? { servers: url };

/** `before` is called before each stream is taken. */
export const backUpTo = (
  folder: string,
  url: string,
  before: (stream: string) => Promise<void> | void = () => {},
): Promise<Manifest> =>
  withBroker(configAt(url), addressOf(url, 'backup'), 'backup', (connection) =>
    backUp({ connection, config: configAt(url), folder, version: '0', erasures: [], now: Date.now, progress: before }),
  );

export const restoreFrom = async (
  folder: string,
  url: string,
  erasures: readonly ListedErasure[] = [],
): Promise<RestoreReport> => {
  const config = configAt(url);
  const backup = await checkBackup(folder, config, erasures);
  return runRestore({ config, address: addressOf(url, 'restorer'), folder, backup, actor: 'operator:olga', progress: () => {} });
};

/** An empty broker. */
export const broker = async (): Promise<TestServer> => {
  const server = await startServer();
  known.set(server.url, server);
  afterwards(server.stop);
  afterwards(() => rm(dataDirAt(server.url), { recursive: true, force: true }));
  return server;
};
/** An empty broker of three servers. */
export const cluster = async (): Promise<TestCluster> => {
  const servers = await startCluster();
  known.set(servers.url, servers);
  afterwards(servers.stop);
  afterwards(() => rm(dataDirAt(servers.url), { recursive: true, force: true }));
  return servers;
};
export const provisioned = async (): Promise<TestServer> => {
  const server = await broker();
  await provisionFor(server, { partitions });
  return server;
};
export const running = async (server: Pick<TestServer, 'url'>, parts?: readonly Part[]): Promise<Services> => {
  const services = await startServices(server.url, parts);
  afterwards(services.stop);
  return services;
};
/** Where a backup can be written. */
export const freshFolder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'natter-backup-'));
  afterwards(() => rm(path, { recursive: true, force: true }));
  return join(path, 'backup');
};
export const until = (condition: () => unknown): Promise<unknown> => vi.waitFor(condition, { interval: 20 });

/** What `person` writes on the channel `hook`, whose answers go into `sent`. */
export const envelope = (person: string, text: string): InboundEnvelope => ({
  ...{ id: randomUUID(), channel: 'hook', conversation: { id: person, kind: 'direct' }, sender: { id: person } },
  ...{ text, mentioned: false, directed: false, at: Date.now() },
});
export const keyOf = (person: string): SessionKey => `agent:main:hook:${person}` as SessionKey;
/** The command that the router makes of such a message. */
export const command = (person: string, text: string): CommandEnvelope => {
  const routed = route(envelope(person, text), configAt('nats://127.0.0.1:1'), Date.now());
  if (!('command' in routed)) throw new Error('not routed');
  return routed.command;
};
/** How often each text is an answer in the log. */
export const answersIn = async ({ ports }: Services, people: readonly string[]): Promise<Map<string, number>> => {
  const answers = new Map<string, number>();
  for (const person of people)
    for await (const { events } of ports.events.read(keyOf(person)))
      for (const event of events)
        if (event.type === 'assistant_message') answers.set(event.text, (answers.get(event.text) ?? 0) + 1);
  return answers;
};
