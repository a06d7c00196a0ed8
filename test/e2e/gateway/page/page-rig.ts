import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { startWorker } from '../../../../services/cli/runtime/compose.ts';
import { reportHealth } from '../../../../services/cli/runtime/health/report.ts';
import { type Gateway, startGateway } from '../../../../services/gateway/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { createClient, type NatterClient } from '../../../../shared/client/main.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { createLog } from '../../../../shared/kit/log.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { loadConfig } from '../../../../shared/runtime/config/load.ts';
import { fixed } from '../../../../shared/runtime/config/reload.ts';
import { RecentLog } from '../../../../shared/runtime/recent-log.ts';
import { callerOf, ready } from '../setup.ts';

/** The whole product in this process, on a broker in memory, with two gateways behind one address, as behind a proxy. */
export interface PageRig {
  readonly client: NatterClient;
  readonly url: string;
  /** Those of a process that a test is. */
  readonly ports: Ports;
  /** An address that signs the page in, once. */
  link(): Promise<string>;
  /** The gateway that serves is gone, with its connections. The other one serves from now on. */
  killGateway(): Promise<void>;
  /** Ends the connections that are open. */
  cutConnections(): void;
  close(): Promise<void>;
}

const token = 'a-token-for-the-page';

/** An address whose connections lead to one gateway; those to the gateway before it are cut. */
const openFront = async () => {
  let port = 0;
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url: string) => {
      port = Number(new URL(url).port);
      cut();
    },
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
};

export const startPageRig = async (home: string, settings: object): Promise<PageRig> => {
  const broker = openInMemory({ clock: systemClock, partitions: 4 });
  const defaults = loadConfig({ env: { NATTER_DATA_DIR: home }, home });
  const { tools, model } = configSchema.parse(settings);
  const config = { ...defaults, agent: { ...defaults.agent, workspace: join(home, 'workspace') }, tools, model };
  const recentLog = new RecentLog();
  const log = createLog({ level: 'info', name: 'natter', destination: { write: () => {} }, recent: recentLog });
  const workers = await Promise.all(
    (['session', 'checkpoint'] as const).map((name) =>
      startWorker(name, {
        ...{ config: fixed(config), ports: broker.portsFor(name), log, env: { NATTER_WARM_UP: 'off' }, tokens: [], version: '0' },
      }),
    ),
  );
  const front = await openFront();
  const { url } = front;
  const start = (name: string): Promise<Gateway> =>
    startGateway({
      config: fixed({ ...config, gateway: { ...config.gateway, port: 0, publicUrl: url } }),
      ports: broker.portsFor(name),
      ...{ log, token, version: '0', insight: { configSource: { env: {}, home }, recentLog } },
      services: () => workers,
    });
  const gateways = await Promise.all([start('gateway-1'), start('gateway-2')]);
  for (const gateway of gateways) await ready(callerOf(gateway.url, token));
  front.leadTo(gateways[0].url);
  const client = createClient({ url, token });
  const ports = broker.portsFor('test');
  const leaving = new AbortController();
  const told = { process: 'session-1', version: '0', presence: ports.presence, clock: systemClock, log, config: fixed(config) };
  const reporting = reportHealth(() => workers, { ...told, signal: leaving.signal });
  return {
    ...{ client, url, ports },
    link: async () => {
      const { code } = await client.post<{ code: string }>('/v1/page/codes', {});
      return `${url}/#code=${code}`;
    },
    killGateway: async () => {
      front.leadTo(gateways[1].url);
      await gateways[0].stop(0);
    },
    cutConnections: front.cut,
    close: async () => {
      leaving.abort();
      await reporting;
      front.close();
      await Promise.all(gateways.map((gateway) => gateway.stop(1_000)));
      await Promise.all(workers.map((worker) => worker.stop(1_000)));
    },
  };
};
