import { expect, vi } from 'vitest';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { openKvStore } from '../../shared/adapters/nats/kv-store.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { afterwards } from './afterwards.ts';
import { startServer } from './nats.ts';
import { provisionFor } from './system.ts';

/** A real broker whose files change while it does not run, and processes at it. */
export const startStoppable = async (config: Config) => {
  const server = await startServer();
  await provisionFor(server, { partitions: config.nats.partitions });
  const connect = async () => {
    const connection = await openConnection({ servers: server.url, name: 'test', requestTimeoutMs: 1_000 });
    afterwards(() => connection.close());
    return connection;
  };
  return {
    server,
    connect,
    /** The ports of a process. */
    open: async (): Promise<Ports> => {
      const ports = await openNats(config, { name: 'test', clock: systemClock, servers: server.url });
      afterwards(() => ports.close());
      return ports;
    },
    witnesses: async () => openKvStore({ connection: await connect(), bucket: 'natter_witness', requestTimeoutMs: 1_000 }),
    whileStopped: async (change: () => Promise<unknown>): Promise<void> => {
      await server.kill9();
      await change();
      await server.restart();
    },
  };
};
export type Stoppable = Awaited<ReturnType<typeof startStoppable>>;

export const codesOf = (ports: Ports): string[] => ports.problems().map(({ code }) => code);
/** Waits until a problem is told. */
export const said = (ports: Ports, text: RegExp) =>
  vi.waitFor(() => expect(ports.problems().map(String).join()).toMatch(text), { timeout: 20_000 });
export const wellAgain = (ports: Ports) => vi.waitFor(() => expect(codesOf(ports)).toEqual([]), { timeout: 20_000 });
