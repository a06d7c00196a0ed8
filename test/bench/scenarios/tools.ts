import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { uuidv7 } from 'uuidv7';
import { startSession } from '../../../services/session/main.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { EventType } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { closedLoop, keyOf, type Measured } from '../load.ts';
import { rawFencedCommits } from '../raw.ts';
import { type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';

/** The ends of the turns of all sessions, told by the event log. */
const turnEnds = (ports: Ports, ending: EventType, signal: AbortSignal) => {
  const waiting = new Map<string, () => void>();
  const following = (async () => {
    const { lastSeq } = await ports.events.info();
    for await (const { events } of ports.events.follow({ after: lastSeq, signal })) {
      for (const event of events) if (event.type === ending && 'turn' in event) waiting.get(event.turn.id)?.();
    }
  })();
  return {
    following,
    /** Posts a text and resolves when its turn is there. */
    turn: async (key: SessionKey, text: string): Promise<void> => {
      const id = uuidv7();
      const ended = new Promise<void>((resolve) => waiting.set(id, resolve));
      const message = { messageId: id, text, sender: { id: 'bench', role: 'owner' as const } };
      await ports.commands.publish({
        ...{ id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'bench' },
        data: { type: 'post_message', sessionId: `api:${id}`, message },
      });
      await ended;
      waiting.delete(id);
    },
  };
};

const settingsFor = (workspace: string) => ({
  agent: { workspace },
  tools: { rules: [{ tool: 'list_files', arguments: { path: 'ask' }, action: 'ask' }] },
});

/** One that takes next to no time itself. */
const call = '[[tool sessions_list {"limit": 1}]]';
const fiveSteps = Array.from({ length: 5 }, () => call).join('[[then]]');

/** Turns with tool calls against an instant model: what our side adds, in fenced commits of the same broker in the same run. */
export const toolTurns = async (setup: SetupName, seconds: number): Promise<Row[]> => {
  const workspace = await mkdtemp(join(tmpdir(), 'natter-bench-workspace-'));
  const system = await startSystem(setup, settingsFor(workspace));
  const stop = new AbortController();
  try {
    const raw = await rawFencedCommits(system.servers, setup, 1, seconds * 500);
    await system.start('checkpoint');
    await system.start('session');
    const { turn } = turnEnds(system.ports, 'turn_completed', stop.signal);
    const run = (ms: number, text: string): Promise<Measured> => closedLoop(1, ms, (number) => turn(keyOf(number % 100), text));
    await run(12_000, fiveSteps);
    const steps = await run(seconds * 1_000, fiveSteps);
    const parallel = await run(seconds * 1_000, call.repeat(5));
    const row = (what: string, { p50Ms, p99Ms }: Measured): Row => ({
      ...{ what, value: p50Ms, unit: 'ms p50', ratio: p50Ms / raw.p50Ms },
      note: `p99 ${p99Ms.toFixed(1)} ms`,
    });
    return [
      { what: `one fenced commit (${setups[setup].title})`, value: raw.p50Ms, unit: 'ms p50', ratio: 1 },
      { ...row('a turn with 5 tool calls, one after the other', steps), goal: '× 30' },
      { ...row('a turn with 5 tool calls at once', parallel), goal: '× 15' },
    ];
  } finally {
    stop.abort();
    await system.close();
    await rm(workspace, { recursive: true, force: true });
  }
};

const waiters = 1_000;

/** Makes the engine collect what is garbage, and tells what is left of the heap. */
const keptBytes = async (): Promise<number> => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  collect();
  return process.memoryUsage().heapUsed;
};

/** What turns that wait for a person keep in the memory of a host. The host runs in this process, so that garbage is not counted. */
export const waitingTurns = async (setup: SetupName): Promise<Row[]> => {
  const workspace = await mkdtemp(join(tmpdir(), 'natter-bench-workspace-'));
  const system = await startSystem(setup, settingsFor(workspace));
  const stop = new AbortController();
  const ports = await openNats(system.config, { name: 'bench host', clock: systemClock, servers: system.servers });
  const log = pino({ level: 'silent' });
  const host = await startSession({ config: system.config, ports, log, member: 'bench-host', env: {} });
  try {
    const { turn } = turnEnds(system.ports, 'approval_requested', stop.signal);
    const ask = async (from: number): Promise<void> => {
      await closedLoopOf(waiters, (number) => turn(keyOf(from + number), '[[tool list_files {"path": "ask"}]]'));
    };
    await ask(0);
    const before = await keptBytes();
    for (const round of [1, 2, 3]) await ask(round * waiters);
    const each = ((await keptBytes()) - before) / (3 * waiters) / 1024;
    return [
      { what: `a turn that waits for approval (${setups[setup].title})`, value: each, unit: 'kB of heap', goal: 'under 10 kB' },
    ];
  } finally {
    stop.abort();
    await host.stop(1_000);
    await ports.close();
    await system.close();
    await rm(workspace, { recursive: true, force: true });
  }
};

/** Does `job` so many times, a hundred at once. */
const closedLoopOf = async (count: number, job: (number: number) => Promise<void>): Promise<void> => {
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  const worker = async (): Promise<void> => {
    for (const number of numbers) await job(number);
  };
  await Promise.all(Array.from({ length: 100 }, worker));
};
