import { pino } from 'pino';
import { expect, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { startDelivery } from '../../../services/delivery/main.ts';
import { type Gateway, startGateway } from '../../../services/gateway/main.ts';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { OfflineModel } from '../../../shared/adapters/model/offline.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf, EventType } from '../../../shared/domain/session/events.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { CustodyRecord, Outbound } from '../../../shared/ports/custody-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Embeddings } from '../../../shared/ports/models/embeddings.ts';
import type { Outlet } from '../../../shared/ports/outlet.ts';
import type { Tools } from '../../../shared/ports/tools.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { keepingRecords } from '../delivery/rig.ts';
import { configOf, type Name, names, secretOf } from '../gateway/access/access-rig.ts';
import { afterwards, type Call, callerOf, openBroker, openStream, ready, type Stream } from '../gateway/setup.ts';

/** Time that goes on from a moment of the test's choice, and can be put forward. */
export interface MovableClock extends Clock {
  /** Goes on at this moment (ISO 8601). */
  goTo(time: string): void;
}
export const clockFrom = (start: string): MovableClock => {
  let ahead = 0;
  const goTo = (time: string): void => {
    ahead = Date.parse(time) - systemClock.now();
  };
  goTo(start);
  return { ...systemClock, now: () => systemClock.now() + ahead, goTo };
};

/** Channels with a way out, all of them into `sent`. */
const channels = ['telegram', 'discord', 'slack'] as const;
const outlets = {
  webhooks: Object.fromEntries(channels.map((channel) => [channel, { url: 'http://127.0.0.1:9/', secret: 'not used' }])),
};
/** The owner writes as `telegram:7`; the others are those of `access-rig.ts`. */
const agent = { owners: ['telegram:7'], names: ['natter'] };

/** What a test says of a message: its chat, a thread, another sender; see the inbound envelope. */
export type Change = Readonly<Record<string, unknown>>;

/** All services on one broker in memory, and the interfaces to it, as many as wanted: what goes in by a channel comes out at an outlet. */
export const startWhole = async (
  given: {
    session?: object;
    more?: object;
    clock?: Clock;
    gateways?: number;
    log?: Logger;
    tools?: Tools;
    model?: Model;
    embeddings?: Embeddings;
  } = {},
) => {
  const { session, more, clock = systemClock, gateways: interfaces = 1, tools } = given;
  const config = configOf(session, { agent, outlets, ...more });
  const memory = openBroker(clock);
  const log = given.log ?? pino({ level: 'silent' });
  const ports = memory.portsFor('services');
  const sent: Outbound[] = [];
  const custody: CustodyRecord[] = [];
  const outletOf = (channel: string): Outlet => ({
    channel,
    unknownSend: { by: 'key' },
    send: async (outbound) => {
      sent.push(outbound);
      return { kind: 'sent' };
    },
  });
  const services = [
    await startSession({
      ...{ config, ports, log, member: 'session', env: {}, model: given.model ?? new OfflineModel(clock) },
      ...(tools && { tools }),
    }),
    await startRouter({ config: fixed(config), ports, log, member: 'router' }),
    await startCheckpoint({ ports, log, member: 'checkpoint', scrub: config.scrub, retention: config.session }),
    await startDelivery({
      config: fixed(config),
      ports: keepingRecords(ports, custody),
      log,
      member: 'delivery',
      outlets: channels.map(outletOf),
    }),
  ];
  afterwards(() => Promise.all(services.map((service) => service.stop(1_000))));

  const openGatewayWith = async (own: Ports = memory.portsFor(`gateway-${Math.random()}`)): Promise<Gateway> => {
    const gateway = await startGateway({
      ...{ config: fixed(config), ports: own, log, token: secretOf('owner'), version: '0', embeddings: given.embeddings },
      services: () => services,
    });
    afterwards(() => gateway.stop(1_000));
    await ready(callerOf(gateway.url));
    return gateway;
  };
  const gateways: Gateway[] = [];
  for (let gateway = 0; gateway < interfaces; gateway++) gateways.push(await openGatewayWith());
  const [first] = gateways as [Gateway, ...Gateway[]];
  const callersAt = ({ url }: Gateway) =>
    Object.fromEntries(names.map((name) => [name, callerOf(url, secretOf(name))])) as Record<Name, Call>;
  const as = callersAt(first);

  let messages = 0;
  /** What a channel tells of a message of `person`, such as `telegram:7`: a direct one unless `change` says otherwise. */
  const say = async (person: string, text: string, change: Change = {}): Promise<string> => {
    const [channel = '', ...rest] = person.split(':');
    const who = rest.join(':');
    const id = `m${++messages}`;
    const body = { id, channel, conversation: { id: who, kind: 'direct' }, sender: { id: who }, text, ...change };
    const call = channel === 'telegram' || channel === 'discord' ? as[channel] : as.owner;
    const answer = await call('POST', '/v1/inbound', { body });
    expect(answer).toMatchObject({ status: 202, body: { status: 'accepted' } });
    return id;
  };
  const commitsOf = async (key: string): Promise<RecordedCommit[]> => {
    const commits: RecordedCommit[] = [];
    for await (const commit of memory.events.read(key as SessionKey)) commits.push(commit);
    return commits;
  };
  const until = (condition: () => unknown): Promise<unknown> => vi.waitFor(condition, { interval: 5 });

  return {
    config,
    memory,
    sent,
    custody,
    gateways,
    as,
    callersAt,
    openGatewayWith,
    say,
    until,
    commitsOf,
    /** The events of one type in a session's log. */
    eventsOf: async <T extends EventType>(key: string, type: T): Promise<EventOf<T>[]> =>
      (await commitsOf(key)).flatMap(({ events }) => events.filter((event): event is EventOf<T> => event.type === type)),
    /** All that was said went through the router and the session, and its turns are over but for `running`. */
    settled: async (running = 0): Promise<void> => {
      await until(async () => {
        expect([await ports.inbound.lag(), await ports.commands.lag()]).toEqual([0, 0]);
        expect(services[0]?.metrics()).toMatchObject({ turns_running: running });
      });
    },
    /** Waits for the next text that is delivered and has not been asked for yet, and what is known of it. */
    delivered: nextOf(sent, until),
    stream: (name: Name, path: string, { url } = first): Promise<Stream> =>
      openStream(url, path, { authorization: `Bearer ${secretOf(name)}` }),
  };
};
export type Whole = Awaited<ReturnType<typeof startWhole>>;

/** Takes one after the other from a list that grows. */
const nextOf = (sent: readonly Outbound[], until: (condition: () => unknown) => Promise<unknown>) => {
  let seen = 0;
  return async (): Promise<Outbound> => {
    await until(() => expect(sent.length).toBeGreaterThan(seen));
    return sent[seen++] as Outbound;
  };
};
