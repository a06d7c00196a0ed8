import { closedLoop, keyOf, type Measured, turn } from '../load.ts';
import { rawFencedCommits } from '../raw.ts';
import { processorMs, type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';

const keys = 1_000;
const [inFlight, manyInFlight] = [64, 256];
/** A host's code is compiled to its best only after some ten seconds of load; what is measured before is the compiler. */
const warmUpMs = 12_000;

/** Turns per second through the whole spine, with one and two hosts, against the fenced commits of the same broker in the same run. */
export const turnsPerSecond = async (setup: SetupName, seconds: number): Promise<Row[]> => {
  const system = await startSystem(setup);
  try {
    const raw = await rawFencedCommits(system.servers, setup, inFlight, seconds * 500);
    const checkpoint = await system.start('checkpoint');
    const delivery = await system.start('delivery');
    const host = await system.start('session');
    const run = (ms: number, { callers = inFlight, firstKey = 0 } = {}) =>
      closedLoop(callers, ms, (number) => turn(system.ports, keyOf(firstKey + (number % keys)), number));
    await run(warmUpMs);
    const processes = {
      driver: [process.pid],
      host: [host.pid],
      checkpoint: [checkpoint.pid],
      delivery: [delivery.pid],
      broker: system.brokerPids,
    };
    const before = await processorTimes(processes);
    const one = await run(seconds * 1_000);
    const used = await processorTimes(processes);
    const many = await run(seconds * 1_000, { callers: manyInFlight });
    await system.start('session');
    // Other sessions: those so far would all be introspected now, which one host was not measured with.
    await run(warmUpMs, { firstKey: keys });
    const two = await run(seconds * 1_000, { firstKey: keys });
    const rawAfter = await rawFencedCommits(system.servers, setup, inFlight, seconds * 500);
    const yardstick = (raw.perSecond + rawAfter.perSecond) / 2;
    const where = setups[setup].title;
    const rate = (what: string, measured: Measured): Row => ({
      ...{ what, value: measured.perSecond, unit: '/s', ratio: measured.perSecond / yardstick },
      note: `p50 ${measured.p50Ms.toFixed(1)} ms, p99 ${measured.p99Ms.toFixed(1)} ms`,
    });
    return [
      { what: `fenced commits, 64 in flight (${where})`, value: yardstick, unit: '/s', ratio: 1 },
      rate('turns, one host', one),
      rate('the same with 256 in flight', many),
      ...Object.keys(processes).map((name) => ({
        what: `processor time per turn, ${name}`,
        value: (1_000 * ((used[name] ?? 0) - (before[name] ?? 0))) / one.count,
        unit: 'µs',
      })),
      rate('turns, two hosts', two),
    ];
  } finally {
    await system.close();
  }
};

const processorTimes = async (processes: Record<string, readonly number[]>): Promise<Record<string, number>> => {
  const times: Record<string, number> = {};
  for (const [name, pids] of Object.entries(processes)) {
    times[name] = (await Promise.all(pids.map(processorMs))).reduce((sum, ms) => sum + ms, 0);
  }
  return times;
};

/** One turn at a time on one key, against one fenced commit at a time. */
export const latency = async (setup: SetupName, seconds: number): Promise<Row[]> => {
  const system = await startSystem(setup);
  try {
    const raw = await rawFencedCommits(system.servers, setup, 1, seconds * 500);
    await system.start('checkpoint');
    await system.start('delivery');
    await system.start('session');
    const run = (ms: number) => closedLoop(1, ms, (number) => turn(system.ports, keyOf(0), number));
    await run(warmUpMs);
    const one = await run(seconds * 1_000);
    return [
      {
        what: `one fenced commit (${setups[setup].title})`,
        value: raw.p50Ms,
        unit: 'ms p50',
        ratio: 1,
        note: `p99 ${raw.p99Ms.toFixed(2)} ms`,
      },
      { what: 'one turn on one key, p50', value: one.p50Ms, unit: 'ms', ratio: one.p50Ms / raw.p50Ms },
      { what: 'one turn on one key, p99', value: one.p99Ms, unit: 'ms', ratio: one.p99Ms / raw.p50Ms },
    ];
  } finally {
    await system.close();
  }
};
