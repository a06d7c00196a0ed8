import { describe, expect, test, vi } from 'vitest';
import { createActor } from 'xstate';
import { inspectCommand } from '../../../services/cli/commands/sessions/inspect.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { sessionMachine } from '../../../shared/domain/session/fold/machine.ts';
import { afterwards, callerOf, openGateway, pathOf, ready, startWorld } from '../gateway/setup.ts';
import { natter } from './natter.ts';

const key = 'agent:main:main';
const start = async () => {
  const { memory, gateway } = await startWorld();
  const { port } = new URL(gateway.url);
  const config = configSchema.parse({ gateway: { port: Number(port) } });
  const call = callerOf(gateway.url);
  let running = gateway;
  const restart = async (): Promise<void> => {
    await running.stop(1_000);
    running = await openGateway(memory.portsFor('gateway'), [], config);
    await ready(call);
  };
  const say = (text: string) => call('POST', pathOf(key, '/messages?wait=5'), { body: { text } });
  const inspect = (...given: string[]) => {
    // Asked for by its short key, told of with its whole one.
    const command = natter(gateway.url, [inspectCommand], 'inspect', 'main', ...given);
    afterwards(async () => {
      command.interrupt();
      await command.done.catch(() => {});
    });
    return command;
  };
  const events = async (): Promise<{ id: string; type: string }[]> => (await call('GET', '/v1/events?limit=1000')).body.events;
  return { inspect, say, restart, events };
};
const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line));
/** What an XState actor of the session machine does with these events. */
const byActor = (events: readonly { id: string; type: string }[]) => {
  const actor = createActor(sessionMachine).start();
  return events.map((event) => {
    const before = actor.getSnapshot().value;
    actor.send(event as never);
    return { id: event.id, type: event.type, before, after: actor.getSnapshot().value };
  });
};

describe('natter inspect', () => {
  test('prints the transitions of the history as an XState actor makes them, and ends', async () => {
    const { inspect, say, events } = await start();
    await say('hello');
    const { out, done } = inspect('--json');
    await done;
    const recorded = byActor(await events());
    expect(recorded.map(({ after }) => after)).toEqual(expect.arrayContaining(['running', 'idle']));
    expect(parsed(out)).toMatchObject(recorded);
    const started = parsed(out).find(({ type }) => type === 'turn_started');
    expect(started).toEqual({
      ...{ key, id: started.id, seq: expect.any(Number), index: expect.any(Number), rev: 1, at: expect.any(Number) },
      ...{ type: 'turn_started', before: 'idle', after: 'running', turn: { id: expect.any(String), attempt: 1 } },
    });
    expect(parsed(out).find(({ type }) => type === 'turn_completed')).toMatchObject({ after: 'idle', turn: started.turn });
  });

  test('--last limits the history; one line for each transition', async () => {
    const { inspect, say, events } = await start();
    await say('hello');
    const { out, done } = inspect('--last', '1');
    await done;
    const last = (await events()).at(-1)?.id;
    expect(out).toEqual([expect.stringMatching(/^ +\d+\.\d+ {2}20\S+Z {2}\w+ → \w+ +\w+/)]);
    expect(out[0]?.trim().split(' ')[0]).toBe(last);
  });

  test('--follow prints transitions as they happen, over restarts of the gateway: none is lost or repeated', async () => {
    const { inspect, say, restart, events } = await start();
    await say('before');
    const { out, notes, done, interrupt } = inspect('--follow', '--json');
    const upToDate = () =>
      vi.waitFor(async () => expect(parsed(out).map(({ id }) => id)).toEqual((await events()).map(({ id }) => id)));
    await upToDate();
    for (let turn = 0; turn < 2; turn++) {
      await restart();
      await say(`message ${turn}`);
      await upToDate();
    }
    expect(parsed(out)).toMatchObject(byActor(await events()));
    expect(notes.join('\n')).toContain('waiting for the gateway: ');
    interrupt();
    await done;
  });

  test('--follow waits for a session that does not exist yet; without it that is an error', async () => {
    const { inspect, say } = await start();
    await expect(inspect().done).rejects.toMatchObject({ code: 'not_found' });
    const { out } = inspect('--follow', '--json');
    await say('hello');
    await vi.waitFor(
      () => expect(parsed(out)[0]).toMatchObject({ before: 'inactive', after: 'idle', type: 'session_opened' }),
      15_000,
    );
  });
});
