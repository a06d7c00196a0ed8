import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { type DeliveryOptions, startDelivery } from '../../../services/delivery/main.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { DeliveryTarget } from '../../../shared/domain/values/types.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Leases } from '../../../shared/ports/leases.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { assistantMessage, commitTo, freshKey } from '../../support/domain/commits.ts';
import { listener } from '../../support/listener.ts';

/** Time that runs `factor` times as fast, so that waits of seconds are tests of milliseconds; `skip` lets the time of day jump. */
const fastClock = (factor = 20): Clock & { skip(ms: number): void } => {
  let skippedMs = 0;
  return {
    now: () => Math.round(systemClock.now() * factor) + skippedMs,
    monotonic: () => systemClock.monotonic() * factor,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
    skip: (ms) => {
      skippedMs += ms;
    },
  };
};

/** What the far side does with a request: a status, or `hang` (never answers). */
export type Reply = { status: number; headers?: Record<string, string> } | 'hang';
export interface Received {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
  readonly raw: string;
}

/** The far side of a webhook: keeps what it gets and answers as it is told. */
export const startFarSide = async (
  reply: (request: Received, nth: number) => Reply | Promise<Reply> = () => ({ status: 204 }),
) => {
  const received: Received[] = [];
  const server = createServer(
    listener(async (request, response) => {
      const raw = Buffer.concat(await request.toArray()).toString();
      const body = JSON.parse(raw);
      const message = { id: body.id, to: body.to.to, text: body.text, headers: request.headers, raw };
      received.push(message);
      const answer = await reply(message, received.filter(({ id }) => id === body.id).length);
      if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end();
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** The switch for ownership (F3): everybody has the lease. */
export const freeForAll: Leases = { hold: (_name, _member, signal, work) => work(signal) };

/** The same ports; what is written into the custody log is kept in `records` as well. */
export const keepingRecords = (ports: Ports, records: CustodyRecord[]): Ports => {
  const append = async (record: CustodyRecord, expectedSeq: number) => {
    const seq = await ports.custody.append(record, expectedSeq);
    if (seq !== null) records.push(record);
    return seq;
  };
  return { ...ports, custody: { ...ports.custody, append } };
};

/** One broker in memory, a far side, and as many delivery services as the test wants. */
export const openRig = async (reply?: Parameters<typeof startFarSide>[0]) => {
  const clock = fastClock();
  const system = openInMemory({ clock });
  const farSide = await startFarSide(reply);
  const records: CustodyRecord[] = [];
  const services: Service[] = [];
  const ports = system.portsFor('test');

  /** The ports of one service; what it writes into the custody log is kept in `records`. */
  const portsOf = (member: string, change: Partial<Ports> = {}): Ports =>
    keepingRecords({ ...system.portsFor(member), ...change }, records);

  /** Records an event as a key's first commit and resolves with its outbound's id. */
  const record = async (key: SessionKey, event: SessionEvent): Promise<string> => {
    const result = await ports.events.append(commitTo(key, { events: [event] }), 0);
    if (result.kind !== 'stored') throw new Error(result.kind);
    return `${result.seq}.0`;
  };

  return {
    clock,
    system,
    farSide,
    records,
    ports,
    portsOf,
    /** States of an outbound, in order, with the attempt. */
    states: (id: string) =>
      records.filter(({ outboundId }) => outboundId === id).map(({ state, attempt }) => `${state} ${attempt}`),
    start: async (
      member: string,
      {
        webhook = {},
        session = {},
        change = {},
        ...more
      }: { webhook?: object; session?: object; change?: Partial<Ports> } & Partial<DeliveryOptions> = {},
    ): Promise<Service> => {
      const hook = { url: farSide.url, secret: 'a secret', timeoutMs: 20_000, ...webhook };
      // Read anew each time, so that a test can change `session`.
      const current = () => configSchema.parse({ session, outlets: { webhooks: { chat: hook, discord: hook } } });
      const service = await startDelivery({
        config: { current },
        ports: portsOf(member, change),
        log: createLog({ level: 'silent', name: member }),
        member,
        ...more,
      });
      services.push(service);
      return service;
    },
    /** Records a reply in the log and resolves with the outbound's id. */
    say: (text: string, to = 'ann', target: Partial<DeliveryTarget> = {}): Promise<string> =>
      record(freshKey(), { ...assistantMessage(text), deliverTo: { channel: 'chat', to, ...target } } as SessionEvent),
    record,
    until: (condition: () => unknown) => vi.waitFor(condition, { interval: 5 }),
    close: async () => {
      await Promise.all(services.map((service) => service.stop(1_000)));
      await farSide.close();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof openRig>>;
