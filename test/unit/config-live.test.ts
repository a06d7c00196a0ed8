import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startRouter } from '../../services/router/main.ts';
import { openMemory } from '../../shared/adapters/memory/open.ts';
import { configSchema } from '../../shared/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { inboundEnvelope } from '../../shared/wire/envelope.ts';

test('A14/140, A3/24: a running router routes the next message by the configuration that is then in force', async () => {
  const ports = openMemory({ clock: systemClock }).portsFor('test');
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
