import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import { fold, initialState } from '../../../shared/domain/session/fold/evolve.ts';
import { rememberedIds } from '../../../shared/domain/session/repeats/id-memory.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { keyOf, quantile, turn } from '../load.ts';
import { processorMs, type SetupName, setups, startSystem, type Worker } from '../system.ts';
import type { Row } from '../table.ts';

/** More messages than a session keeps the ids of: the last 64 and 16,384 before them. */
const messages = 17_000;
/** Turns of one session in a row, and how often each session has them. */
const [block, blocks] = [100, 10];
const [full, empty, warmUp] = [0, 1, 2];

interface Used {
  readonly tookMs: number[];
  processorMs: number;
}

/** What it costs a turn that its session remembers as many ids as it can (D9). */
export const idMemory = async (setup: SetupName): Promise<Row[]> => {
  const system = await startSystem(setup);
  const { ports } = system;
  try {
    const host = await system.start('session');
    await fill(ports);
    for (let number = 0; number < 500; number++) await turn(ports, keyOf(warmUp), number);
    const [ofFull, ofEmpty]: [Used, Used] = [
      { tookMs: [], processorMs: 0 },
      { tookMs: [], processorMs: 0 },
    ];
    for (let round = 0; round < blocks; round++) {
      await measure(ports, host, empty, ofEmpty);
      await measure(ports, host, full, ofFull);
    }
    const ids = await idsOf(ports);
    const [whenEmpty, whenFull] = [figuresOf(ofEmpty), figuresOf(ofFull)];
    const goal = 'at most × 1.05';
    return [
      { what: `a turn, id memory empty (${setups[setup].title})`, value: whenEmpty.p50Ms, unit: 'ms p50', ratio: 1 },
      {
        what: `the same, ${ids} older ids`,
        value: whenFull.p50Ms,
        unit: 'ms p50',
        ratio: whenFull.p50Ms / whenEmpty.p50Ms,
        goal,
      },
      { what: 'processor time of the host per turn, empty', value: whenEmpty.usedUs, unit: 'µs', ratio: 1 },
      { what: 'the same, full', value: whenFull.usedUs, unit: 'µs', ratio: whenFull.usedUs / whenEmpty.usedUs, goal },
    ];
  } finally {
    await system.close();
  }
};

const publish = async ({ commands }: Ports, data: SessionCommand): Promise<void> => {
  const id = uuidv7();
  const key = keyOf(full);
  await commands.publish({ id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'bench', data });
};

/** Adds so many messages to the session that it can remember no more ids, and has it forget what they said. */
const fill = async (ports: Ports): Promise<void> => {
  let next = 0;
  const append = async (): Promise<void> => {
    for (let number = next++; number < messages; number = next++) {
      const message = { messageId: `m${number}`, text: 'note', sender: { id: 'bench' } };
      await publish(ports, { type: 'append_message', sessionId: 'bench', message });
    }
  };
  await Promise.all(Array.from({ length: 64 }, append));
  await publish(ports, { type: 'reset', sessionId: 'bench 2', cause: { trigger: 'api', rule: 'bench' } });
  while ((await ports.commands.lag()) > 0) await sleep(100);
};

const measure = async (ports: Ports, { pid }: Worker, session: number, into: Used): Promise<void> => {
  const before = await processorMs(pid);
  for (let number = 0; number < block; number++) {
    const began = performance.now();
    await turn(ports, keyOf(session), number);
    into.tookMs.push(performance.now() - began);
  }
  into.processorMs += (await processorMs(pid)) - before;
};

const figuresOf = ({ tookMs, processorMs: used }: Used) => ({
  p50Ms: quantile(
    tookMs.toSorted((one, other) => one - other),
    0.5,
  ),
  usedUs: (1_000 * used) / tookMs.length,
});

/** How many the session knows besides the last ones. */
const idsOf = async ({ events }: Ports): Promise<number> => {
  let state = initialState;
  for await (const commit of events.read(keyOf(full))) state = fold(state, commit);
  return rememberedIds(state.position.olderIds);
};
