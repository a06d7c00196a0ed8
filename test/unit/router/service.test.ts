import { afterEach, describe, expect, test, vi } from 'vitest';
import { startRouter } from '../../../services/router/main.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { type Config, configSchema } from '../../../shared/domain/config/schema.ts';
import { inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { CommandBus, Consumption } from '../../../shared/ports/work-queue.ts';
import { type Current, fixed } from '../../../shared/runtime/config/reload.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** A router on a broker in memory, and the commands that come out. */
const open = async (
  publish?: (original: CommandBus['publish']) => CommandBus['publish'],
  config: Current<Config> = fixed(configSchema.parse({})),
) => {
  const system = openInMemory({ clock: systemClock, queues: { ackWaitMs: 100 } });
  const ports = system.portsFor('test');
  const commands: CommandEnvelope[] = [];
  const handle = async ({ message }: { message: CommandEnvelope }) => {
    commands.push(message);
    return { kind: 'done' } as const;
  };
  const consumption: Consumption = await ports.commands.consume({ member: 'host', handle });
  const original: CommandBus['publish'] = (command) => ports.commands.publish(command);
  const commandsPort = publish ? Object.assign(Object.create(ports.commands), { publish: publish(original) }) : ports.commands;
  const router = await startRouter({
    config,
    ports: { ...ports, commands: commandsPort },
    log: createLog({ level: 'silent', name: 'test' }),
    member: 'router',
  });
  closing.push(
    () => router.stop(1_000),
    () => consumption.close(1_000),
  );
  const say = (id: string, conversation = '1', kind = 'group') =>
    ports.inbound.publish(
      inboundEnvelope.parse({
        id,
        channel: 'irc',
        conversation: { id: conversation, kind },
        sender: { id: 'ann' },
        text: id,
        at: 1,
      }),
    );
  return { ports, router, commands, say };
};

describe('the router', () => {
  test('publishes one command for each envelope, in order', async () => {
    const { say, commands, router } = await open();
    for (const id of ['a', 'b', 'c', 'd']) await say(id);
    await vi.waitFor(() => expect(commands.map(({ causationId }) => causationId)).toEqual(['a', 'b', 'c', 'd']));
    expect(router.metrics()).toMatchObject({ routed_total: 4, unroutable_total: 0 });
  });

  test('puts what no session can have among the dead letters, with the reason, and goes on', async () => {
    const { say, commands, ports } = await open();
    await say('bad', 'not a key');
    await say('good');
    await vi.waitFor(() => expect(commands).toHaveLength(1));
    await vi.waitFor(async () =>
      expect(await ports.deadLetters.list(9)).toMatchObject([{ reason: expect.stringMatching(/^conversation\.id: /) }]),
    );
  });

  test('waits while commands cannot be published, and then routes once and in order', async () => {
    let calls = 0;
    const { say, commands } = await open((original) => async (command) => {
      calls += 1;
      if (calls === 1) throw new NatterError('unavailable', 'no broker');
      const done = await original(command);
      if (calls === 2) throw new NatterError('unavailable', 'the answer got lost');
      return done;
    });
    await say('a');
    await say('b');
    await vi.waitFor(() => expect(commands.map(({ causationId }) => causationId)).toEqual(['a', 'b']), { timeout: 5_000 });
  });

  test('gives up on a command that is too large to publish', async () => {
    const { say, ports } = await open((original) => async (command) => {
      if (command.causationId === 'large') throw new NatterError('too_large', 'message of 300000 bytes');
      return original(command);
    });
    await say('large');
    await vi.waitFor(async () => expect(await ports.deadLetters.list(9)).toMatchObject([{ reason: 'message of 300000 bytes' }]));
  });

  test('A3/31: drops what the configuration does not let in: counted, and no dead letter', async () => {
    const allowlist = fixed(configSchema.parse({ channels: { irc: { dmPolicy: 'allowlist' } } }));
    const { say, commands, router, ports } = await open(undefined, allowlist);
    await say('direct', 'ann', 'direct');
    await say('group');
    await vi.waitFor(() => expect(commands.map(({ causationId }) => causationId)).toEqual(['group']));
    await vi.waitFor(() => expect(router.metrics()).toMatchObject({ dropped_total: 1, routed_total: 1, unroutable_total: 0 }));
    expect(await ports.deadLetters.list(9)).toEqual([]);
  });

  test('A14/140: follows its configuration', async () => {
    let config = configSchema.parse({});
    const { say, commands } = await open(undefined, { current: () => config });
    await say('before', 'ann', 'direct');
    await vi.waitFor(() => expect(commands.map(({ key }) => key)).toEqual(['agent:main:main']));
    config = configSchema.parse({ session: { dmScope: 'per-channel-peer' } });
    await say('after', 'ann', 'direct');
    await vi.waitFor(() => expect(commands.map(({ key }) => key)).toEqual(['agent:main:main', 'agent:main:irc:dm:ann']));
  });
});
