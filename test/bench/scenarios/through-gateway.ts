import { startCluster, startServer } from '../../support/nats.ts';
import { startCountedBroker, trafficBetween } from '../counted-broker.ts';
import { openCaller, openEvents } from '../gateway-clients.ts';
import { closedLoop, keyOf, type Measured, quantile } from '../load.ts';
import { rawFencedCommits } from '../raw.ts';
import { processorMs, type SetupName, setups } from '../system.ts';
import type { Row } from '../table.ts';
import { head, startUp, type Up } from '../up.ts';

/**
 * What a user gets: `natter up`, a message by HTTP on a connection that is kept, and the answer in the response. Against fenced commits of the
 * same run, on a broker that does nothing else.
 */

const keys = 1_000;
const inFlight = 64;
const warmUpMs = 12_000;

export const throughGateway = async (setup: SetupName, seconds: number): Promise<Row[]> => {
  const { syncInterval, title, replicas } = setups[setup];
  const broker = replicas === 3 ? await startCluster({ syncInterval }) : await startServer({ syncInterval });
  // One server is the one that `natter up` starts; three are a cluster of one's own.
  const start = (hosts: number) =>
    replicas === 3
      ? startUp(hosts, { NATS_URL: broker.url, NATS_USERS_DIR: broker.usersDir }, { nats: { replicas } })
      : startUp(hosts, { NATTER_BROKER_SYNC: syncInterval });
  const brokers = 'nodes' in broker ? broker.nodes.map((node) => node.pid()) : [];
  /** Three brokers are not its children. */
  const usedBy = async (up: Up): Promise<Record<string, number>> => {
    const ms = (await Promise.all(brokers.map(processorMs))).reduce((sum, each) => sum + each, 0);
    return { ...(await up.used()), ...(brokers.length > 0 && { brokers: ms }) };
  };
  const raw = (callers: number): Promise<Measured> => rawFencedCommits(broker.url, setup, callers, seconds * 500);
  try {
    const [before, alone] = [await raw(inFlight), await raw(1)];
    const up = await start(1);
    const oneHost = await turns(up.port, inFlight, keys, seconds);
    const oneKey = await turns(up.port, 1, 1, seconds);
    const reading = await eventsOfOneKey(up.port, seconds);
    await up.stop();
    const two = await start(2);
    await turns(two.port, inFlight, keys, 0);
    const used = await usedBy(two);
    const twoHosts = await turns(two.port, inFlight, keys, seconds, 0);
    const usedAfter = await usedBy(two);
    await two.stop();
    const traffic = replicas === 1 ? await trafficOfTurns(syncInterval, seconds) : [];
    const yardstick = (before.perSecond + (await raw(inFlight)).perSecond) / 2;
    const rate = (what: string, { perSecond, p50Ms, p99Ms }: Measured): Row => ({
      ...{ what, value: perSecond, unit: '/s', ratio: perSecond / yardstick },
      note: `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
    });
    const time = (what: string, value: number): Row => ({ what, value, unit: 'ms', ratio: value / alone.p50Ms });
    return [
      { what: `fenced commits, 64 in flight (${title})`, value: yardstick, unit: '/s', ratio: 1 },
      { what: 'one fenced commit, p50', value: alone.p50Ms, unit: 'ms', ratio: 1 },
      rate('turns through the gateway, 64 in flight, 1,000 keys', oneHost),
      rate('the same with --hosts 2', twoHosts),
      time('one turn on one key, p50', oneKey.p50Ms),
      time('one turn on one key, p99', oneKey.p99Ms),
      time('answer to a reader of events, p50', quantile(reading, 0.5)),
      time('answer to a reader of events, p99', quantile(reading, 0.99)),
      ...Object.entries(usedAfter).map(([name, ms]) => ({
        what: `processor time per turn with --hosts 2, ${name}`,
        value: (1_000 * (ms - (used[name] ?? 0))) / twoHosts.count,
        unit: 'µs',
      })),
      ...traffic,
    ];
  } finally {
    await broker.stop();
  }
};

/** What one turn makes go through the broker, with one host and one gateway. A broker of three also talks to itself, and is not counted. */
const trafficOfTurns = async (syncInterval: string, seconds: number): Promise<Row[]> => {
  const broker = await startCountedBroker(syncInterval);
  try {
    const up = await startUp(1, { NATS_URL: broker.url, NATS_USERS_DIR: broker.usersDir });
    await turns(up.port, inFlight, keys, 0);
    const before = await broker.traffic();
    const { count } = await turns(up.port, inFlight, keys, seconds, 0);
    const { outMessages, outBytes, inMessages, inBytes, stored } = trafficBetween(before, await broker.traffic());
    await up.stop();
    return [
      { what: 'messages out of the broker per turn', value: outMessages / count, unit: '', goal: '8' },
      { what: 'bytes out of the broker per turn', value: outBytes / count, unit: 'B', goal: '6000' },
      { what: 'messages into the broker per turn', value: inMessages / count, unit: '' },
      { what: 'bytes into the broker per turn', value: inBytes / count, unit: 'B' },
      { what: 'messages that the broker stores per turn', value: stored / count, unit: '' },
    ];
  } finally {
    await broker.stop();
  }
};

/** Turns whose answers the callers wait for. Warms up first. */
const turns = async (port: number, callers: number, sessions: number, seconds: number, warmMs = warmUpMs): Promise<Measured> => {
  const connections = await Promise.all(Array.from({ length: callers }, () => openCaller(port)));
  const say = async (number: number, worker: number): Promise<void> => {
    const status = await connections[worker]?.ask(requestOf(number % sessions, number));
    if (status !== 200) throw new Error(`a message was answered with ${status}`);
  };
  await closedLoop(callers, warmMs, say);
  const measured = await closedLoop(callers, seconds * 1_000, say);
  for (const connection of connections) connection.close();
  return measured;
};

const requestOf = (session: number, number: number): string => {
  const body = JSON.stringify({ text: `message ${number}: how do I mount a windows partition in ubuntu?` });
  const path = `/v1/sessions/${encodeURIComponent(keyOf(session))}/messages?wait=30`;
  return `POST ${path} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

/** From a message that is sent to its answer in an event stream, one at a time, ms, sorted. */
const eventsOfOneKey = async (port: number, seconds: number): Promise<number[]> => {
  const caller = await openCaller(port);
  let heard = (): void => {};
  const stream = await openEvents(port, head, (text) => {
    if (text.includes('event: assistant_message')) heard();
  });
  const took: number[] = [];
  const until = performance.now() + seconds * 1_000;
  for (let number = 0; performance.now() < until; number++) {
    const began = performance.now();
    const arrived = new Promise<void>((resolve) => (heard = resolve)).then(() => took.push(performance.now() - began));
    await Promise.all([caller.ask(requestOf(0, number)), arrived]);
  }
  caller.close();
  stream.destroy();
  return took.sort((a, b) => a - b);
};
