import { jetstreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { startServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';

/** Every queue is worked off under the users' rights, whichever subject the broker gives for acknowledgements. */
test.each([
  ['as they were', ''],
  ['with domain and account', 'feature_flags { js_ack_fc_v2: true }'],
])('acknowledgements %s: envelopes, commands, timers and checkpoints are done', async (_, configuration) => {
  const key = 'agent:main:main' as SessionKey;
  const server = await startServer({ configuration });
  onTestFinished(() => server.stop());
  const config = configSchema.parse({ nats: { partitions: 2 } });
  await provisionFor(server, { partitions: 2 });
  const opened = portsOn(server, config);
  onTestFinished(() => opened.close());
  const log = pino({ level: 'silent' });
  const services = [
    await startSession({ config, ports: await opened.as('session'), log, member: 'host', env: {} }),
    await startRouter({ config: fixed(config), ports: await opened.as('router'), log, member: 'router' }),
    await startCheckpoint({
      ports: await opened.as('checkpoint'),
      log,
      member: 'checkpoint',
      introspection: { config, env: {} },
    }),
  ];
  onTestFinished(async () => void (await Promise.all(services.map((service) => service.stop(2_000)))));

  const ports = await opened.as('gateway');
  const envelope = {
    id: 'm1',
    channel: 'terminal',
    conversation: { id: 'ann', kind: 'direct' },
    sender: { id: 'ann' },
    text: 'hello',
  };
  await ports.inbound.publish(inboundEnvelope.parse(envelope));
  const command = (id: string) => ({ id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'test' });
  const message = { messageId: 'm2', text: 'later', sender: { id: 'ann' } };
  await ports.commands.schedule('t1', Date.now(), { ...command('t1'), data: { type: 'post_message', sessionId: 's', message } });
  await vi.waitFor(async () => expect((await ports.index.get(key))?.completedTurns).toBe(2), { interval: 50 });
  await ports.commands.publish({ ...command('c1'), data: { type: 'request_checkpoint', why: { reason: 'manual' } } });
  await vi.waitFor(
    async () => {
      const events = (await ports.events.page({ after: 0, limit: 100 })).commits.flatMap((commit) => commit.events);
      expect(events.map(({ type }) => type)).toContain('introspected');
      expect(await Promise.all([ports.inbound, ports.commands, ports.checkpoints].map((queue) => queue.lag()))).toEqual([
        0, 0, 0,
      ]);
    },
    { interval: 50 },
  );
  const connection = await openConnection({ ...server.as('operator'), name: 'test', requestTimeoutMs: 2_000 });
  const { consumers } = await jetstreamManager(connection, { checkAPI: false });
  for (const stream of ['NATTER_INBOUND', 'NATTER_COMMANDS', 'NATTER_CHECKPOINTS', 'NATTER_TIMERS'])
    for await (const { name, num_ack_pending } of consumers.list(stream))
      expect({ stream, name, num_ack_pending }).toEqual({ stream, name, num_ack_pending: 0 });
  await connection.close();
});
