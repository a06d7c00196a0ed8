import { uuidv7 } from 'uuidv7';
import type { Ports } from '../../../shared/ports/index.ts';
import { openCaller, openEvents } from '../gateway-clients.ts';
import { closedLoop, keyOf, type Measured, quantile } from '../load.ts';
import { type BenchSystem, processorMs, type SetupName, setups, startSystem, type Worker } from '../system.ts';
import type { Row } from '../table.ts';
import { freePort } from '../up.ts';

import { rssBytes } from './sessions.ts';

/** What the gateway does alone: no host runs, and the driver records the events itself. */

const inFlight = 64;
const fewInFlight = 16;
const warmUpMs = 8_000;
const followers = 200;
const events = 500;
const eventPauseMs = 20;
const [streams, stalled] = [500, 50];
/** Enough to fill what a stream may leave unread, and the kernel's buffers before it. */
const [largeTexts, largeText] = [80, 'x'.repeat(100_000)];
const token = 'bench-token-0123456789';
const head = `host: bench\r\nauthorization: Bearer ${token}\r\n`;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const gateway = async (setup: SetupName, seconds: number): Promise<Row[]> => {
  const port = await freePort();
  const system = await startSystem(setup, { gateway: { port, token, requestsPerMinute: 10_000_000 } });
  try {
    const gateway = await system.start('gateway');
    const posting = await posts(system, gateway, port, seconds);
    const following = await eventLatency(system, port);
    await gateway.stop();
    const memory = await streamMemory(system, await system.start('gateway'), port);
    const [first] = posting;
    return [
      ...(first ? [{ ...first, what: `${first.what} (${setups[setup].title})` }] : []),
      ...posting.slice(1),
      ...following,
      memory,
    ];
  } finally {
    await system.close();
  }
};

/** `POST …/messages` → 202: stored by the broker. */
const posts = async ({ brokerPids }: BenchSystem, gateway: Worker, port: number, seconds: number): Promise<Row[]> => {
  const callers = await Promise.all(Array.from({ length: inFlight }, () => openCaller(port)));
  const post = async (number: number, worker: number): Promise<void> => {
    const body = JSON.stringify({ text: `message ${number}: how do I mount a windows partition in ubuntu?` });
    const path = `/v1/sessions/${encodeURIComponent(keyOf(number % 1_000))}/messages`;
    const length = Buffer.byteLength(body);
    const request = `POST ${path} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
    const status = await callers[worker]?.ask(request);
    if (status !== 202) throw new Error(`POST ${path} was answered with ${status}`);
  };
  await closedLoop(inFlight, warmUpMs, post);
  const processes = { gateway: [gateway.pid], driver: [process.pid], broker: brokerPids };
  const usedBy = async (pids: readonly number[]): Promise<number> =>
    (await Promise.all(pids.map(processorMs))).reduce((sum, ms) => sum + ms, 0);
  const before = await Promise.all(Object.values(processes).map(usedBy));
  const measured = await closedLoop(inFlight, seconds * 1_000, post);
  const after = await Promise.all(Object.values(processes).map(usedBy));
  // With all of them in flight each waits for the others. This is what one sees on a gateway that is not full.
  const fewer = await closedLoop(fewInFlight, seconds * 1_000, post);
  for (const caller of callers) caller.close();
  const took = ({ p99Ms, p50Ms, perSecond }: Measured) => ({
    ...{ value: p99Ms, unit: 'ms', note: `p50 ${p50Ms.toFixed(1)} ms at ${Math.round(perSecond)} a second` },
  });
  return [
    { what: 'POST message to 202, 64 in flight', value: measured.perSecond, unit: '/s', goal: '3,000/s on one core' },
    { what: 'POST message to 202, p99', goal: 'under 25 ms', ...took(measured) },
    { what: `the same with ${fewInFlight} in flight, p99`, ...took(fewer) },
    ...Object.keys(processes).map((name, at) => ({
      what: `processor time per POST, ${name}`,
      value: (1_000 * ((after[at] ?? 0) - (before[at] ?? 0))) / measured.count,
      unit: 'µs',
    })),
  ];
};

/** Records messages of one session, as a host does. */
const recorder = async (ports: Ports, number: number): Promise<(text: string) => Promise<void>> => {
  const key = keyOf(number);
  let [rev, seq] = [0, 0];
  return async (text) => {
    const id = uuidv7();
    rev += 1;
    const message = { messageId: id, text, sender: { id: 'bench' } };
    const result = await ports.events.append(
      {
        ...{ v: 1, id, key, rev, sessionId: 's', epoch: 0, at: Date.now(), correlationId: id, causationId: id, actor: 'bench' },
        ...{ command: { id, seq: null, incarnation: null }, events: [{ type: 'user_message', v: 1, message }] },
      },
      seq,
    );
    if (result.kind !== 'stored') throw new Error(`commit ${rev} was not stored: ${JSON.stringify(result)}`);
    seq = result.seq;
  };
};

/** From right before an event is sent to the broker until each of the clients has it. */
const eventLatency = async ({ ports }: BenchSystem, port: number): Promise<Row[]> => {
  const took: number[] = [];
  const take = (text: string): void => {
    const now = performance.now();
    for (const [, sent] of text.matchAll(/"text":"sent ([\d.]+)"/g)) took.push(now - Number(sent));
  };
  const sockets = await Promise.all(Array.from({ length: followers }, () => openEvents(port, head, take)));
  const record = await recorder(ports, 2_000);
  for (let event = 0; event < events + 100; event++) {
    if (event === 100) took.length = 0;
    await record(`sent ${performance.now()}`);
    await sleep(eventPauseMs);
  }
  for (const socket of sockets) socket.destroy();
  const sorted = took.toSorted((a, b) => a - b);
  const share = (100 * took.length) / (events * followers);
  return [
    { what: `event to client, ${followers} clients, p50`, value: quantile(sorted, 0.5), unit: 'ms', goal: 'under 3 ms' },
    {
      ...{ what: `event to client, ${followers} clients, p99`, value: quantile(sorted, 0.99), unit: 'ms', goal: 'under 15 ms' },
      note: `${share.toFixed(1)} % in one piece`,
    },
  ];
};

/** The most memory a gateway takes with so many streams, some of which are never read. */
const streamMemory = async ({ ports }: BenchSystem, gateway: Worker, port: number): Promise<Row> => {
  const idle = await rssBytes(gateway.pid);
  const sockets = await Promise.all(Array.from({ length: streams }, () => openEvents(port, head, () => {})));
  const connected = await rssBytes(gateway.pid);
  for (const socket of sockets.slice(0, stalled)) socket.pause();
  const record = await recorder(ports, 3_000);
  let most = connected;
  for (let text = 0; text < largeTexts; text++) {
    await record(largeText);
    await sleep(100);
    most = Math.max(most, await rssBytes(gateway.pid));
  }
  for (const socket of sockets) socket.destroy();
  const [mb, before, all] = [most, idle, connected].map((bytes) => bytes / 1_024 / 1_024) as [number, number, number];
  return {
    ...{
      what: `gateway with ${streams} streams, ${stalled} of them unread`,
      value: mb,
      unit: 'MB RSS at most',
      goal: 'under 300 MB',
    },
    note: `${before.toFixed(0)} MB without, ${all.toFixed(0)} MB when they have connected; ${largeTexts} texts of 100 kB`,
  };
};
