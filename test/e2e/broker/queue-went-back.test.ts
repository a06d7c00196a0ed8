import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startSession } from '../../../services/session/main.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { freshKey } from '../../support/domain/commits.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { eventStoreOf } from '../../support/streams/event-store.ts';
import { portsOn, provisionFor } from '../../support/system.ts';

const config = configSchema.parse({ nats: { partitions: 1 } });
let server: TestServer;
let opened: ReturnType<typeof portsOn>;
let ports: Ports;
let host: Service;
const start = async (): Promise<void> => {
  opened = portsOn(server, config);
  ports = await opened.as('tester');
  const own = await opened.as('session');
  host = await startSession({ config, ports: own, log: pino({ level: 'silent' }), member: 'host', env: {} });
};
beforeAll(async () => {
  server = await startServer();
  await provisionFor(server, { partitions: 1 });
  await start();
});
afterAll(async () => {
  await host.stop(2_000);
  await opened.close();
  await server.stop();
});

test('I1: when the queue of commands goes back to an older copy, a new command in a place that was given out before is no repeat', async () => {
  const key = freshKey('agent:main:went-back');
  const append = async (text: string): Promise<string | undefined> => {
    const id = randomUUID();
    const data: SessionCommand = {
      type: 'append_message',
      sessionId: 's',
      message: { messageId: id, text, sender: { id: 'ann' } },
    };
    const answer = ports.answers.wait(id, 20_000);
    const envelope = { id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'test', data };
    await ports.commands.publish({ ...envelope, answerTo: ports.answers.address });
    return (await answer)?.outcome;
  };
  // Its witness as well: then only the sessions know that there was more.
  const stores = ['NATTER_COMMANDS', 'KV_natter_witness'].map((stream) => eventStoreOf(server, stream));
  expect(await append('one')).toBe('accepted');
  await server.kill9();
  await Promise.all(stores.map((store) => store.copyAs('older')));
  await server.restart();
  for (const text of ['two', 'three', 'four']) expect(await append(text)).toBe('accepted');
  const recordedAt = Date.now();
  await host.stop(2_000);
  await opened.close();
  await server.kill9();
  await Promise.all(stores.map((store) => store.putBack('older')));
  await server.restart();
  await start();
  // Times are compared with a second of tolerance.
  await vi.waitFor(() => expect(Date.now() - recordedAt).toBeGreaterThan(1_500), { timeout: 10_000 });
  for (const text of ['five', 'six']) expect(await append(text)).toBe('accepted');
}, 60_000);
