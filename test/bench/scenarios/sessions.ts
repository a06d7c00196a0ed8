import { readFile } from 'node:fs/promises';
import { fold, initialState } from '../../../shared/domain/session/fold/evolve.ts';
import { closedLoop, keyOf, quantile, turn } from '../load.ts';
import { type BenchSystem, type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';

const restarts = 7;

/** One session that grows to 5,000 turns: is a late turn as cheap as an early one, and what do a restart and a replay cost? */
export const longSession = async (setup: SetupName): Promise<Row[]> => {
  const system = await startSystem(setup);
  try {
    await system.start('checkpoint');
    let host = await system.start('session');
    const key = keyOf(0);
    const turnMs = async (number: number): Promise<number> => {
      const began = performance.now();
      await turn(system.ports, key, number);
      return performance.now() - began;
    };
    for (let number = 0; number < 500; number++) await turn(system.ports, keyOf(1), number);
    const took: number[] = [];
    for (let number = 0; number < 1_000; number++) took.push(await turnMs(number));
    const afterRestart: number[] = [];
    for (let restart = 0; restart < restarts; restart++) {
      // What introspection found meanwhile would wait for the next host too, ahead of the turn.
      await atRest(system);
      await host.stop();
      host = await system.start('session');
      afterRestart.push(await turnMs(1_000 + restart));
    }
    for (let number = 1_000 + restarts; number < 5_000; number++) took.push(await turnMs(number));
    await host.stop();
    const median = (values: readonly number[]): number =>
      quantile(
        values.toSorted((a, b) => a - b),
        0.5,
      );
    const early = median(took.slice(10, 210));
    const late = median(took.slice(-200));
    return [
      { what: `turn 10 to 210 of one session (${setups[setup].title})`, value: early, unit: 'ms p50', ratio: 1 },
      { what: 'its last 200 turns of 5,000', value: late, unit: 'ms p50', ratio: late / early, goal: 'ratio under 1.2' },
      {
        ...{
          what: 'first turn after a host restart, 1,000 turns old',
          value: median(afterRestart),
          unit: 'ms',
          goal: 'at most 15 ms',
        },
        note: `median of ${restarts}, ${Math.min(...afterRestart).toFixed(1)} to ${Math.max(...afterRestart).toFixed(1)} ms`,
      },
      await coldReplay(system),
    ];
  } finally {
    await system.close();
  }
};

/** Resolves when no service has anything in hand or waiting. */
const atRest = async ({ ports: { checkpoints, commands } }: BenchSystem): Promise<void> => {
  while ((await checkpoints.lag()) + (await commands.lag()) > 0) await new Promise((resolve) => setTimeout(resolve, 100));
};

/** Reads and folds the first 10,000 events of the session from nothing. */
const coldReplay = async ({ ports }: BenchSystem): Promise<Row> => {
  const began = performance.now();
  let state = initialState;
  let events = 0;
  for await (const commit of ports.events.read(keyOf(0))) {
    state = fold(state, commit);
    events += commit.events.length;
    if (events >= 10_000) break;
  }
  const tookMs = performance.now() - began;
  return {
    what: `cold replay of ${events} events (rev ${state.position.rev})`,
    value: tookMs,
    unit: 'ms',
    goal: 'under 2,000 ms',
  };
};

export const rssBytes = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024;
};

const residents = 10_000;

/** Resident memory of a host: after the same number of turns over a hundred sessions, and with 10,000 sessions in memory. */
export const memory = async (setup: SetupName): Promise<Row[]> => {
  const system = await startSystem(setup);
  try {
    await system.start('checkpoint');
    const host = await system.start('session');
    const settle = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return rssBytes(host.pid);
    };
    const turns = async (count: number, keyFor: (number: number) => number): Promise<void> => {
      let next = 0;
      await closedLoop(64, Number.POSITIVE_INFINITY, async () => {
        if (next >= count) throw done;
        const number = next++;
        await turn(system.ports, keyOf(keyFor(number)), number);
      }).catch((error) => {
        if (error !== done) throw error;
      });
    };
    await turns(residents, (number) => number % 100);
    const before = await settle();
    await turns(residents, (number) => 1_000 + number);
    const after = await settle();
    return [
      { what: 'host after 10,000 turns over 100 sessions', value: before / 1024 / 1024, unit: 'MB RSS' },
      { what: 'host with 10,000 more sessions in memory', value: after / 1024 / 1024, unit: 'MB RSS' },
      { what: 'per idle resident session', value: (after - before) / residents / 1024, unit: 'kB', goal: 'at most 10 kB' },
    ];
  } finally {
    await system.close();
  }
};
const done = new Error('enough');
