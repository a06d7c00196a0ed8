import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { numbered, startServer, type TestServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';

/**
 * I6: a real session host is killed with SIGKILL at every moment of a turn with tools: before and after each durable write, each model
 * step and each effect. Another host takes over. A tool that cannot be repeated has at most one effect, whatever happens; of one that can be,
 * every call has its effect, under one id; and the turn ends.
 */
const program = fileURLToPath(new URL('../../../dist/test/chaos/doomed-host.js', import.meta.url));
/** At least: a post, two steps with calls, two results and the answer; three steps; three effects. Two moments each. */
const leastMoments = 24;
/** Each waits for seconds after a kill, so that several take little longer than one. */
const chains = 6;
const folder = mkdtempSync(join(tmpdir(), 'natter-doomed-'));
let server: TestServer;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  server = await startServer({ prefixes: [...numbered('doom', chains), 'wait'] });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const hostOf = async (prefix: string, member: string): Promise<ChildProcess> => {
  const env = {
    ...process.env,
    ...{ DOOM_EFFECTS: join(folder, prefix), DOOM_PREFIX: prefix, DOOM_MEMBER: member },
    ...{ NATS_URL: server.url, NATS_USERS_DIR: server.usersDir },
  };
  const child = fork(program, [], { env, stdio: 'inherit' });
  children.add(child);
  await once(child, 'message');
  return child;
};

interface Stage {
  readonly ports: Ports;
  events(key: SessionKey): Promise<SessionEvent[]>;
  send(key: SessionKey, data: SessionCommand, id: string): Promise<unknown>;
  close(): Promise<void>;
}

const stageOf = async (prefix: string): Promise<Stage> => {
  const config = configSchema.parse({ prefix, nats: { partitions: 1 } });
  await provisionFor(server, { prefix, partitions: 1 });
  const opened = portsOn(server, config);
  const ports = await opened.as('tester');
  const checkpoint = await startCheckpoint({
    ports: await opened.as('checkpoint'),
    log: pino({ level: 'silent' }),
    member: 'checkpoint',
  });
  return {
    ports,
    events: async (key) => {
      const events: SessionEvent[] = [];
      for await (const commit of ports.events.read(key)) events.push(...commit.events);
      return events;
    },
    send: (key, data, id) =>
      ports.commands.publish({ id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'test', data }),
    close: async () => {
      await checkpoint.stop(1_000);
      await opened.close();
    },
  };
};

/** Denies what a person is asked, and waits for the end of the turn. */
const untilOver = async ({ events, send }: Stage, key: SessionKey): Promise<void> => {
  const answered = new Set<string>();
  await vi.waitFor(
    async () => {
      const told = await events(key);
      for (const event of told) {
        if (event.type !== 'approval_requested' || answered.has(event.approvalId)) continue;
        answered.add(event.approvalId);
        const { approvalId } = event;
        const by = { id: 'ann', role: 'owner' } as const;
        await send(key, { type: 'resolve_approval', approvalId, verdict: 'denied', by }, approvalId);
      }
      expect(told.map(({ type }) => type)).toContain('turn_completed');
    },
    { timeout: 60_000, interval: 50 },
  );
};

/** A chain of hosts, where each finishes the turn of the one before it and is then the next to be killed. */
const chainOf = async (prefix: string) => {
  const stage = await stageOf(prefix);
  let host = await hostOf(prefix, 'host-0');
  /** Runs a turn whose host is killed at one moment, up to its end. `killed` is false where a turn has no such moment. */
  const killedAt = async (moment: number): Promise<{ effects: string[]; events: SessionEvent[]; killed: boolean }> => {
    const key = `agent:main:s${moment}` as SessionKey;
    const id = `m${moment}`;
    const gone = once(host, 'exit');
    const answers = (doomAt: number): Promise<boolean> => {
      const told = once(host, 'message').then(() => true);
      host.send(doomAt, () => {});
      return Promise.race([told, gone.then(() => false)]);
    };
    await answers(moment);
    const message = { messageId: id, text: 'go', sender: { id: 'ann', role: 'owner' as const } };
    await stage.send(key, { type: 'post_message', sessionId: 's1', message }, id);
    await Promise.race([gone, untilOver(stage, key)]);
    const killed = !(await answers(0));
    if (killed) host = await hostOf(prefix, `host-${moment}`);
    await untilOver(stage, key);
    const effects = readFileSync(join(folder, prefix), 'utf8').trim().split('\n');
    return { effects: effects.filter((line) => line.includes(` ${id}.`)), events: await stage.events(key), killed };
  };
  return { killedAt, close: stage.close };
};

test('I6: a host killed at every moment of a turn repeats nothing that cannot be repeated, and the turn ends', async () => {
  let next = 1;
  let survived = false;
  let unknown = 0;
  const work = async (prefix: string): Promise<void> => {
    const chain = await chainOf(prefix);
    while (!survived) {
      const moment = next++;
      const { effects, events, killed } = await chain.killedAt(moment);
      if (!killed) {
        survived = true;
        expect(moment, 'moments of a turn').toBeGreaterThan(leastMoments);
      }
      const id = `m${moment}`;
      const [charge, put, again] = [`charge ${id}.1.0`, `put ${id}.1.1`, `put ${id}.2.0`];
      const count = (what: string): number => effects.filter((line) => line === what).length;
      expect(count(charge), `charged at moment ${moment}`).toBeLessThanOrEqual(1);
      for (const each of [put, again]) expect(count(each), `${each} at moment ${moment}`).toBeGreaterThanOrEqual(1);
      expect(effects.every((line) => [charge, put, again].includes(line))).toBe(true);
      const results = events.flatMap((event) => (event.type === 'tool_result' ? [`${event.callId} ${event.outcome}`] : []));
      const charged = results.find((result) => result.startsWith(`${id}.1.0`));
      if (charged === `${id}.1.0 unknown`) unknown += 1;
      else expect(count(charge), 'what is told is what happened').toBe(1);
      expect(results.filter((result) => result !== charged).sort()).toEqual([`${id}.1.1 ok`, `${id}.2.0 ok`]);
      expect(events.filter(({ type }) => type === 'assistant_message')).toHaveLength(1);
    }
    await chain.close();
  };
  await Promise.all(numbered('doom', chains).map(work));
  expect(unknown, 'some moments leave the outcome of the charge open').toBeGreaterThan(0);
}, 300_000);

test("ADR 26: a host is killed while its turn waits for a program's results, which come after and are answered once", async () => {
  const stage = await stageOf('wait');
  const key = 'agent:main:waiting' as SessionKey;
  const host = await hostOf('wait', 'host-0');
  const sender = { id: 'ann', role: 'owner' as const };
  const client = { tools: [{ name: 'get_weather', parameters: '{"type":"object"}' }] };
  const message = { messageId: 'm', text: 'ask', sender, client };
  await stage.send(key, { type: 'post_message', sessionId: 's1', message }, 'm');
  const awaited = await vi.waitFor(
    async () => {
      const found = (await stage.events(key)).find(({ type }) => type === 'client_results_awaited');
      expect(found).toBeDefined();
      return found;
    },
    { timeout: 30_000, interval: 20 },
  );
  const gone = once(host, 'exit');
  host.kill('SIGKILL');
  await gone;
  const calls = awaited?.type === 'client_results_awaited' ? awaited.calls : [];
  const results = calls.map((callId) => ({ callId, outcome: 'ok' as const, text: 'warm' }));
  await stage.send(key, { type: 'give_results', results, by: sender }, 'r');
  await hostOf('wait', 'host-1');
  await untilOver(stage, key);
  const events = await stage.events(key);
  const count = (type: SessionEvent['type']): number => events.filter((event) => event.type === type).length;
  expect(events.flatMap((event) => (event.type === 'assistant_message' ? [event.text] : []))).toEqual(['all done']);
  expect([count('client_results_received'), count('tool_result'), count('turn_resumed')]).toEqual([1, 1, 0]);
  await stage.close();
}, 120_000);
