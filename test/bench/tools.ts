import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import type { Ports } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { EventType } from '../../shared/session/events.ts';
import { closedLoop, keyOf, type Measured } from './load.ts';
import { rawFencedCommits } from './raw.ts';
import { type SetupName, setups, startSystem } from './system.ts';
import type { Row } from './table.ts';

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
      { ...row('a turn with 5 tool calls, one after the other', steps), goal: 'ratio under 15' },
      row('a turn with 5 tool calls at once', parallel),
    ];
  } finally {
    stop.abort();
    await system.close();
    await rm(workspace, { recursive: true, force: true });
  }
};

const waiters = 1_000;

/** What turns that wait for a person cost a host. */
export const waitingTurns = async (setup: SetupName): Promise<Row[]> => {
  const workspace = await mkdtemp(join(tmpdir(), 'natter-bench-workspace-'));
  const system = await startSystem(setup, settingsFor(workspace));
  const stop = new AbortController();
  try {
    await system.start('checkpoint');
    const host = await system.start('session');
    const { turn } = turnEnds(system.ports, 'approval_requested', stop.signal);
    const ask = (from: number) =>
      Promise.all(
        Array.from({ length: waiters }, (_, number) => turn(keyOf(from + number), '[[tool list_files {"path": "ask"}]]')),
      );
    const settledBytes = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      const status = await readFile(`/proc/${host.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    };
    // The first rounds are the compiler and the heap finding their size.
    for (const round of [0, 1, 2]) await ask(round * waiters);
    const before = await settledBytes();
    for (const round of [3, 4, 5]) await ask(round * waiters);
    const after = await settledBytes();
    const each = (after - before) / (3 * waiters) / 1024;
    return [{ what: `a turn that waits for approval (${setups[setup].title})`, value: each, unit: 'kB', goal: 'under 10 kB' }];
  } finally {
    stop.abort();
    await system.close();
    await rm(workspace, { recursive: true, force: true });
  }
};
