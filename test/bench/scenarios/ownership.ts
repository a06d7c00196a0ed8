import { keyOf, turn } from '../load.ts';
import { type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';

const keys = 64;

/** How long the slowest of 64 busy sessions waits when one of two hosts is asked to stop, and when it is killed. */
export const ownership = async (setup: SetupName): Promise<Row[]> => {
  const system = await startSystem(setup);
  try {
    await system.start('checkpoint');
    const hosts = [await system.start('session'), await system.start('session')] as const;
    let slowestMs = 0;
    let running = true;
    const client = async (_: unknown, number: number): Promise<void> => {
      for (let count = 0; running; count++) {
        const began = performance.now();
        await turn(system.ports, keyOf(number), count);
        slowestMs = Math.max(slowestMs, performance.now() - began);
      }
    };
    const clients = Promise.all(Array.from({ length: keys }, client));
    const settle = async (ms: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      slowestMs = 0;
    };
    await settle(6_000);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const undisturbedMs = slowestMs;
    await settle(0);
    const stopMs = await hosts[0].stop();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const handoverMs = slowestMs;
    await system.start('session');
    await settle(6_000);
    await hosts[1].kill9();
    await new Promise((resolve) => setTimeout(resolve, 9_000));
    const takeoverMs = slowestMs;
    running = false;
    await clients;
    return [
      { what: `slowest turn, undisturbed (${setups[setup].title})`, value: undisturbedMs, unit: 'ms' },
      {
        what: 'slowest turn over a graceful stop',
        value: handoverMs,
        unit: 'ms',
        goal: 'handover under 100 ms',
        note: `stop took ${Math.round(stopMs)} ms`,
      },
      { what: 'slowest turn over a kill -9', value: takeoverMs, unit: 'ms', goal: 'takeover at most 6,000 ms' },
    ];
  } finally {
    await system.close();
  }
};
