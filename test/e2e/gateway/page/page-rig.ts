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

/** The whole product in this process, on a broker in memory, with a gateway that can be stopped and started at the same address. */
export interface PageRig {
  readonly client: NatterClient;
  readonly url: string;
  /** Those of a process that a test is. */
  readonly ports: Ports;
  /** An address that signs the page in, once. */
  link(): Promise<string>;
  /** The gateway is gone, with its connections, and another one starts at its address. */
  replaceGateway(): Promise<void>;
  close(): Promise<void>;
}

const token = 'a-token-for-the-page';

export const startPageRig = async (home: string, settings: object): Promise<PageRig> => {
  const broker = openInMemory({ clock: systemClock, partitions: 4 });
  const defaults = loadConfig({ env: { NATTER_DATA_DIR: home }, home });
  const { tools } = configSchema.parse(settings);
  const config = { ...defaults, agent: { ...defaults.agent, workspace: join(home, 'workspace') }, tools };
  const recentLog = new RecentLog();
  const log = createLog({ level: 'info', name: 'natter', destination: { write: () => {} }, recent: recentLog });
  const workers = await Promise.all(
    (['session', 'checkpoint'] as const).map((name) =>
      startWorker(name, {
        ...{ config: fixed(config), ports: broker.portsFor(name), log, env: { NATTER_WARM_UP: 'off' }, tokens: [], version: '0' },
      }),
    ),
  );
  let count = 0;
  const start = (port: number): Promise<Gateway> =>
    startGateway({
      config: fixed({ ...config, gateway: { ...config.gateway, port } }),
      ports: broker.portsFor(`gateway-${count++}`),
      ...{ log, token, version: '0', insight: { configSource: { env: {}, home }, recentLog } },
      services: () => workers,
    });
  let gateway = await start(0);
  const { url } = gateway;
  await ready(callerOf(url, token));
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
    replaceGateway: async () => {
      await gateway.stop(0);
      gateway = await start(Number(new URL(url).port));
      await ready(callerOf(url, token));
    },
    close: async () => {
      leaving.abort();
      await reporting;
      await gateway.stop(1_000);
      await Promise.all(workers.map((worker) => worker.stop(1_000)));
    },
  };
};
