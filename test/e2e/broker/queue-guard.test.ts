import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { unseenMargin, withLog } from '../../../services/cli/runtime/log-loss.ts';
import { acceptQueueLoss, findQueueLosses } from '../../../services/cli/runtime/queue-loss.ts';
import { createWritersWitness, queueWitness, type StoredWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import { openConnection } from '../../../shared/adapters/nats/connection.ts';
import { openKvStore } from '../../../shared/adapters/nats/kv-store.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { afterwards } from '../../support/afterwards.ts';
import { freshKey } from '../../support/domain/commits.ts';
import { eventStoreOf } from '../../support/event-store.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

/** A queue whose files are put back to an older copy while the broker does not run: what it accepted is not lost in silence (I13). */
const defaults = loadConfig({ env: {}, home: '/nowhere' });
const config = { ...defaults, nats: { ...defaults.nats, partitions: 1, requestTimeoutMs: 1_000 } };
let server: TestServer;
let commands: ReturnType<typeof eventStoreOf>;
beforeEach(async () => {
  server = await startServer();
  commands = eventStoreOf(server, 'NATTER_COMMANDS');
  await provisionFor(server, { partitions: 1 });
});
afterEach(() => server.stop());

const open = async (): Promise<Ports> => {
  const ports = await openNats(config, { name: 'test', clock: systemClock, servers: server.url });
  afterwards(() => ports.close());
  return ports;
};
/** The places of the commands that a member handles, from now on. */
const handledBy = async ({ commands: queue }: Ports): Promise<readonly number[]> => {
  const handled: number[] = [];
  const consumption = await queue.consume({
    member: 'host',
    handle: async ({ seq }) => {
      handled.push(seq);
      return { kind: 'done' };
    },
  });
  afterwards(() => consumption.close(0));
  await vi.waitFor(() => expect(consumption.owned()).toEqual([0]), { timeout: 20_000 });
  return handled;
};
const command = (): CommandEnvelope => {
  const id = randomUUID();
  const data = { type: 'append_message', sessionId: 's', message: { messageId: id, text: id, sender: { id: 'ann' } } } as const;
  return { id, key: freshKey('agent:main:queue'), at: Date.now(), correlationId: id, causationId: id, actor: 'test', data };
};
const publish = async ({ commands: queue }: Ports): Promise<number> => (await queue.publish(command())).seq;
const envelope = {
  channel: 'telegram',
  conversation: { id: '7', kind: 'direct' },
  sender: { id: '7' },
  text: 'hello',
  mentioned: false,
  directed: false,
} as const;
const whileStopped = async (change: () => Promise<unknown>): Promise<void> => {
  await server.kill9();
  await change();
  await server.restart();
};
const codesOf = (ports: Ports): string[] => ports.problems().map(({ code }) => code);
const said = (ports: Ports, text: RegExp) =>
  vi.waitFor(() => expect(ports.problems().map(String).join()).toMatch(text), { timeout: 20_000 });
const wellAgain = (ports: Ports) => vi.waitFor(() => expect(codesOf(ports)).toEqual([]), { timeout: 20_000 });
const witness = async (queue: string): Promise<StoredWitness> => {
  const connection = await openConnection({ servers: server.url, name: 'witness', requestTimeoutMs: 1_000 });
  try {
    const bucket = await openKvStore({ connection, bucket: 'natter_witness', requestTimeoutMs: 1_000 });
    return await createWritersWitness(bucket, queueWitness(queue)).read();
  } finally {
    await connection.close();
  }
};
test('an older copy was put back: nothing is stored or handed out until the newer one is, and all goes on by itself', async () => {
  const writer = await open();
  const first = await publish(writer);
  await whileStopped(() => commands.copyAs('older'));
  await wellAgain(writer);
  await publish(writer);
  const last = await publish(writer);
  await vi.waitFor(async () => expect(await witness('commands')).toMatchObject({ seq: last, incarnation: expect.any(Number) }));
  await whileStopped(async () => {
    await commands.copyAs('newer');
    await commands.putBack('older');
  });

  const others = [writer, await open()];
  for (const ports of others) {
    await said(ports, new RegExp(`NATTER_COMMANDS ends at ${first}, but had reached ${last}`));
    // Other streams may still be compared.
    await vi.waitFor(() => expect(codesOf(ports)).toEqual(['queue_went_back']), { timeout: 20_000 });
    await expect(publish(ports)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/natter log accept/),
    });
  }
  const handled = await handledBy(writer);
  expect((await writer.inbound.lag()) + handled.length, 'nothing is taken from it').toBe(0);

  await whileStopped(() => commands.putBack('newer'));
  for (const ports of others) await wellAgain(ports);
  const next = await publish(writer);
  await vi.waitFor(() => expect(handled).toEqual([first, last - 1, last, next]), { timeout: 20_000 });
}, 90_000);

test('a person accepts the loss: it is recorded, no place is given out again, and what waits goes on by itself', async () => {
  const writer = await open();
  await publish(writer);
  await whileStopped(() => commands.copyAs('older'));
  await wellAgain(writer);
  const last = await publish(writer);
  await vi.waitFor(async () => expect(await witness('commands')).toMatchObject({ seq: last }));
  await whileStopped(() => commands.putBack('older'));
  await said(writer, /had reached/);
  // It has what fills a lost place in hand when the loss is accepted.
  const handled = await handledBy(writer);

  const address = { servers: server.url };
  await withLog(config, address, async (resources) => {
    const [loss] = await findQueueLosses(resources);
    if (loss === undefined) throw new Error('there is no loss');
    expect(loss).toMatchObject({ stream: 'NATTER_COMMANDS', lastSeq: last - 1, reached: last });
    await acceptQueueLoss(resources, loss, { actor: 'operator:olga', reason: 'no copy is left' });
    expect(await findQueueLosses(resources)).toEqual([]);
    expect((await resources.ports.audit.page({ limit: 10 })).records).toMatchObject([
      {
        kind: 'queue_loss_accepted',
        actor: 'operator:olga',
        target: 'NATTER_COMMANDS',
        detail: expect.stringMatching(/no copy/),
      },
    ]);
  });
  await wellAgain(writer);
  const next = await publish(writer);
  expect(next).toBeGreaterThan(last + unseenMargin);
  await vi.waitFor(() => expect(handled, 'the older copy, and the new one').toEqual([last - 1, next]), { timeout: 20_000 });
  expect(await writer.deadLetters.count()).toBe(0);
}, 90_000);

test('envelopes, timers and the log of deliveries: the same', async () => {
  const streams = ['INBOUND', 'TIMERS', 'DELIVERIES'].map((name) => eventStoreOf(server, `NATTER_${name}`));
  const target = { channel: 'telegram', to: '7' };
  const record = { v: 1, outboundId: '1.0', outboundSeq: 1, key: freshKey(), target, attempt: 1, at: 1 } as const;
  const work = (ports: Ports, at: number) => [
    () => ports.inbound.publish({ ...envelope, id: randomUUID() }),
    () => ports.commands.schedule(`timer-${at}`, Date.now() + 3_600_000, command()),
    async () => ports.custody.append({ ...record, state: 'sending', at }, (await ports.custody.last(target))?.seq ?? 0),
  ];
  const writer = await open();
  await whileStopped(() => Promise.all(streams.map((stream) => stream.copyAs('older'))));
  await wellAgain(writer);
  for (const one of work(writer, 1)) await one();
  for (const queue of ['inbound', 'timers', 'deliveries'])
    await vi.waitFor(async () => expect(await witness(queue)).toMatchObject({ seq: 1 }), { timeout: 20_000 });
  await whileStopped(() => Promise.all(streams.map((stream) => stream.putBack('older'))));

  await said(writer, /NATTER_INBOUND.*NATTER_TIMERS.*NATTER_DELIVERIES/);
  const another = await open();
  for (const ports of [writer, another])
    for (const one of work(ports, 2)) await expect(one()).rejects.toMatchObject({ code: 'unavailable' });
}, 90_000);
