import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { startSession } from '../../../services/session/main.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { EventOf, EventType, SessionEvent } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { keyOf } from '../../support/domain/commits.ts';

/** A session host with a real MCP server from npm, and the offline model that calls its tools. */
const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const key = keyOf('agent:main:main');

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const begin = async (rules: readonly object[] = []) => {
  const memory = openInMemory({ clock: systemClock });
  const config = configSchema.parse({
    mcp: { servers: { all: { command: process.execPath, args: [everything, 'stdio'] } } },
    tools: { rules },
  });
  const ports = memory.portsFor('test');
  const hostOf = async (member: string): Promise<Service> => {
    const log = pino({ level: 'silent' });
    const env = { PATH: process.env.PATH };
    const host = await startSession({ config, ports: memory.portsFor(member), log, member, env, recoveryEveryMs: 100 });
    closers.push(() => host.stop(2_000));
    return host;
  };
  let commands = 0;
  const send = async (data: SessionCommand): Promise<void> => {
    const id = `command-${++commands}`;
    const actor = 'test';
    await ports.commands.publish({ id, key, at: Date.now(), correlationId: id, causationId: id, actor, data });
  };
  const say = (text: string) =>
    send({
      type: 'post_message',
      sessionId: 's1',
      message: { messageId: `m${commands}`, text, sender: { id: 'ann', role: 'owner' } },
    });
  /** Waits for the first event of a kind. */
  const until = <T extends EventType>(type: T): Promise<EventOf<T>> =>
    vi.waitFor(
      async () => {
        const events: SessionEvent[] = [];
        for await (const commit of ports.events.read(key)) events.push(...commit.events);
        const found = events.find((event): event is EventOf<T> => event.type === type);
        if (found === undefined) throw new Error(`no ${type} in ${events.map((event) => event.type).join()}`);
        return found;
      },
      { timeout: 15_000 },
    );
  return { hostOf, send, say, until };
};

test('A5/62: a turn calls a tool of an MCP server that a rule allows, and answers with its result', async () => {
  const { hostOf, say, until } = await begin([{ tool: 'all__*', action: 'allow' }]);
  await hostOf('host-1');
  await say('[[tool all__echo {"message": "hi"}]] well?');
  expect(await until('tool_result')).toMatchObject({ outcome: 'ok', text: 'Echo: hi' });
  expect((await until('assistant_message')).text).toContain('all__echo → Echo: hi');
});

test('A5/62: where no rule allows it a person is asked, and the call is made after every host was restarted', async () => {
  const { hostOf, say, send, until } = await begin();
  const first = await hostOf('host-1');
  await say('[[tool all__get-sum {"a": 2, "b": 40}]]');
  const { approvalId, action } = await until('approval_requested');
  expect(action).toBe('call "get-sum" of the MCP server all with {"a":2,"b":40}');
  await first.stop(2_000);
  await send({ type: 'resolve_approval', approvalId, verdict: 'granted', by: { id: 'ann', role: 'owner' } });
  await hostOf('host-2');
  expect(await until('tool_result')).toMatchObject({ outcome: 'ok', text: 'The sum of 2 and 40 is 42.' });
  await until('assistant_message');
});
