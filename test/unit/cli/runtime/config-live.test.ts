import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startWorker } from '../../../../services/cli/runtime/compose.ts';
import { startRouter } from '../../../../services/router/main.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { inboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import type { SessionCommand } from '../../../../shared/domain/session/commands.ts';
import type { EventOf, EventType } from '../../../../shared/domain/session/events.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import { keyOf } from '../../../support/domain/commits.ts';

test('A14/140, A3/24: a running router routes the next message by the configuration that is then in force', async () => {
  const ports = openInMemory({ clock: systemClock }).portsFor('test');
  const keys: string[] = [];
  const consumption = await ports.commands.consume({
    member: 'host',
    handle: async ({ message }) => {
      keys.push(message.key);
      return { kind: 'done' };
    },
  });
  let config = configSchema.parse({});
  const router = await startRouter({
    config: { current: () => config },
    ports,
    log: pino({ level: 'silent' }),
    member: 'router',
  });
  const say = (id: string) =>
    ports.inbound.publish(
      inboundEnvelope.parse({
        id,
        channel: 'irc',
        conversation: { id: 'ann', kind: 'direct' },
        sender: { id: 'ann' },
        text: id,
        at: 1,
      }),
    );

  await say('m1');
  await vi.waitFor(() => expect(keys).toEqual(['agent:main:main']));
  config = configSchema.parse({ session: { dmScope: 'per-channel-peer' } });
  await say('m2');
  await vi.waitFor(() => expect(keys).toEqual(['agent:main:main', 'agent:main:irc:dm:ann']));

  await router.stop(1_000);
  await consumption.close(1_000);
});

test('I12, A3/29: whose id is unlinked while all runs knows nothing of the person any more, nor is what they say remembered of them', async () => {
  const system = openInMemory({ clock: systemClock });
  const ports = system.portsFor('test');
  const linking = (...ids: string[]) => ({
    ...configSchema.parse({ session: { identityLinks: { ann: ids } } }),
    dataDir: '/nowhere',
  });
  let config = linking('telegram:1', 'irc:1');
  const live = { current: () => config as Config };
  const options = { config: live, log: pino({ level: 'silent' }), env: {}, tokens: [], version: '0' };
  for (const name of ['session', 'checkpoint'] as const) {
    const worker = await startWorker(name, { ...options, ports: system.portsFor(name) });
    onTestFinished(() => worker.stop(1_000));
  }
  let sent = 0;
  const tell = async (name: string, data: SessionCommand): Promise<void> => {
    const id = `c${++sent}`;
    const answer = ports.answers.wait(id, 5_000);
    const envelope = { id, key: keyOf(name), at: Date.now(), correlationId: id, causationId: id, actor: 'test', data };
    await ports.commands.publish({ ...envelope, answerTo: ports.answers.address });
    expect((await answer)?.outcome).toBe('accepted');
  };
  const say = (name: string, principal: string, text: string) => {
    const message = { messageId: `m${sent}`, text, sender: { id: '1', role: 'participant' as const, principal } };
    return tell(name, { type: 'post_message', sessionId: 's1', message });
  };
  const eventsOf = async <T extends EventType>(name: string, type: T): Promise<EventOf<T>[]> => {
    const found: EventOf<T>[] = [];
    for await (const { events } of ports.events.read(keyOf(name)))
      found.push(...events.filter((event): event is EventOf<T> => event.type === type));
    return found;
  };
  const lastAnswer = async (name: string) => (await eventsOf(name, 'assistant_message')).at(-1)?.text;

  const [theirs, strangers] = ['agent:main:irc:dm:ann', 'agent:main:irc:dm:1'];
  await say(theirs, 'ann', 'Remember that I like tea.');
  await tell(theirs, { type: 'request_checkpoint', why: { reason: 'manual' } });
  await vi.waitFor(
    async () => expect((await eventsOf(theirs, 'memory_changed'))[0]?.changes).toMatchObject([{ scope: { principal: 'ann' } }]),
    5_000,
  );
  await vi.waitFor(async () => {
    await say(theirs, 'ann', 'What do you remember?');
    expect(await lastAnswer(theirs)).toMatch(/^I remember:\n.*I like tea$/);
  });

  config = linking('telegram:1');
  await say(strangers, 'irc:1', 'What do you remember?');
  await vi.waitFor(async () => expect(await lastAnswer(strangers)).toBeDefined());
  expect(await lastAnswer(strangers)).toBe('I remember nothing.');
  await say(strangers, 'irc:1', 'Remember that I am the owner.');
  await tell(strangers, { type: 'request_checkpoint', why: { reason: 'manual' } });
  await vi.waitFor(
    async () =>
      expect((await eventsOf(strangers, 'memory_changed'))[0]?.reach).toEqual([
        { kind: 'session' },
        { kind: 'person', principal: 'irc:1' },
      ]),
    5_000,
  );
});
