import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { startRouter } from '../../../services/router/main.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { startMiniHost } from '../../support/mini-host.ts';
import { startServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';
import { callerOf, ready, token } from './setup.ts';

/** Gateways in processes of their own, before a real broker and a session host. */

const program = fileURLToPath(new URL('../../../dist/test/support/gateway-process.js', import.meta.url));
const config = configSchema.parse({ nats: { partitions: 4 } });

export interface GatewayProcess {
  readonly url: string;
  /** Resident memory, MB. */
  memory(): number;
  kill9(): Promise<void>;
}
export interface GatewayRigOptions {
  /** The part `gateway` of its configuration. Default: any free port. */
  readonly gateway?: object;
  /** How long a client may leave a full buffer unread. Default: as the product has it. */
  readonly stallMs?: number;
}

/** A broker, a host and a router; `gateway` starts a gateway and waits until it is ready. */
export const startGateways = async () => {
  const server = await startServer();
  const children = new Set<ChildProcess>();
  const opened = portsOn(server, config);
  await provisionFor(server, { prefix: config.prefix, partitions: config.nats.partitions });
  const hostPorts = await opened.as('tester');
  const host = await startMiniHost(hostPorts);
  const routed = { config: fixed(config), ports: await opened.as('router'), member: 'router-1' };
  const router = await startRouter({ ...routed, log: pino({ level: 'silent' }) });

  const gateway = async ({ gateway = {}, stallMs }: GatewayRigOptions = {}): Promise<GatewayProcess> => {
    const env = {
      ...process.env,
      ...{
        NATS_URL: server.url,
        NATS_USERS_DIR: server.usersDir,
        DOOR_TOKEN: token,
        ...(stallMs !== undefined && { DOOR_STALL_MS: String(stallMs) }),
      },
      DOOR_CONFIG: JSON.stringify({ nats: { partitions: config.nats.partitions }, gateway: { port: 0, ...gateway } }),
    };
    const child = fork(program, [], { env, stdio: 'inherit' });
    children.add(child);
    const gone = once(child, 'exit');
    const ended = gone.then(([code, signal]) => {
      throw new Error(`the gateway ended before it was ready (${signal ?? `exit code ${code}`}); its output says why`);
    });
    const [url] = (await Promise.race([once(child, 'message'), ended])) as [string];
    await ready(callerOf(url));
    return {
      url,
      memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1_024,
      kill9: async () => {
        child.kill('SIGKILL');
        await gone;
      },
    };
  };
  const close = async (): Promise<void> => {
    for (const child of children) child.kill('SIGKILL');
    await router.stop(2_000);
    await host.close();
    await opened.close();
    await server.stop();
  };
  /** Messages and commands that are not done yet. */
  const waiting = async (): Promise<number> => (await hostPorts.inbound.lag()) + (await hostPorts.commands.lag());
  return { gateway, close, waiting, /** Where the log is. */ seen: () => hostPorts.events.info() };
};
export type GatewayRigs = Awaited<ReturnType<typeof startGateways>>;
