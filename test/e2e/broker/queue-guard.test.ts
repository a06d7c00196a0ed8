import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { unseenMargin } from '../../../services/cli/runtime/log-loss.ts';
import { acceptQueueLoss, findQueueLosses } from '../../../services/cli/runtime/queue-loss.ts';
import { withLog } from '../../../services/cli/runtime/with-log.ts';
import { createWritersWitness, queueWitness, type StoredWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import { afterwards } from '../../support/afterwards.ts';
import { freshKey } from '../../support/domain/commits.ts';
import { codesOf, type Stoppable, said, startStoppable, wellAgain } from '../../support/stopped-store.ts';
import { eventStoreOf } from '../../support/streams/event-store.ts';

/** A queue whose files are put back to an older copy while the broker does not run: what it accepted is not lost in silence (I13). */
const defaults = loadConfig({ env: {}, home: '/nowhere' });
const config = { ...defaults, nats: { ...defaults.nats, partitions: 1, requestTimeoutMs: 1_000 } };
let broker: Stoppable;
let commands: ReturnType<typeof eventStoreOf>;
beforeEach(async () => {
  broker = await startStoppable(config);
  commands = eventStoreOf(broker.server, 'NATTER_COMMANDS');
});
afterEach(() => broker.server.stop());

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
const witness = async (queue: string): Promise<StoredWitness> =>
  createWritersWitness(await broker.witnesses(), queueWitness(queue)).read();

test('an older copy was put back: nothing is stored or handed out until the newer one is, and all goes on by itself', async () => {
  const writer = await broker.open();
  const first = await publish(writer);
  await broker.whileStopped(() => commands.copyAs('older'));
  await wellAgain(writer);
  await publish(writer);
  const last = await publish(writer);
  await vi.waitFor(async () => expect(await witness('commands')).toMatchObject({ seq: last, incarnation: expect.any(Number) }));
  await broker.whileStopped(async () => {
    await commands.copyAs('newer');
    await commands.putBack('older');
  });

  const others = [writer, await broker.open()];
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

  await broker.whileStopped(() => commands.putBack('newer'));
  for (const ports of others) await wellAgain(ports);
  const next = await publish(writer);
  await vi.waitFor(() => expect(handled).toEqual([first, last - 1, last, next]), { timeout: 20_000 });
}, 90_000);

test('a person accepts the loss: it is recorded, no place is given out again, and what waits goes on by itself', async () => {
  const writer = await broker.open();
  await publish(writer);
  await broker.whileStopped(() => commands.copyAs('older'));
  await wellAgain(writer);
  const last = await publish(writer);
  await vi.waitFor(async () => expect(await witness('commands')).toMatchObject({ seq: last }));
  await broker.whileStopped(() => commands.putBack('older'));
  await said(writer, /had reached/);
  // It has what fills a lost place in hand when the loss is accepted.
  const handled = await handledBy(writer);

  const address = { servers: broker.server.url };
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

test('tokens and pairings: one that was revoked since the copy opens nothing, until the newer copy is back or a person accepts it', async () => {
  const stores = ['tokens', 'pairings'].map((name) => eventStoreOf(broker.server, `KV_natter_${name}`));
  const token = {
    v: 1,
    id: 't1',
    role: 'channel',
    label: 'bot',
    createdAt: 1,
    createdBy: 'olga',
    secrets: [{ sha256: 'a'.repeat(64) }],
  } as const;
  const paired = (ports: Ports, senderId: string) =>
    ports.pairings.change('telegram', (record) => {
      const sender = { senderId, code: 'ABCDEFGH', pairedAt: 1, by: 'olga' };
      return { record: { ...record, paired: [...record.paired, sender] }, result: null };
    });
  const writer = await broker.open();
  expect(await writer.tokens.add(token)).toBe(true);
  await paired(writer, '1');
  await broker.whileStopped(() => Promise.all(stores.map((store) => store.copyAs('older'))));
  await wellAgain(writer);
  await writer.tokens.change('t1', (each) => ({ ...each, revokedAt: 2 }));
  await paired(writer, '2');
  for (const name of ['tokens', 'pairings'])
    await vi.waitFor(async () => expect(await witness(name)).toMatchObject({ seq: 2 }), { timeout: 20_000 });
  await broker.whileStopped(() => Promise.all(stores.map((store) => store.putBack('older'))));

  const gateway = await broker.open();
  await expect(gateway.tokens.watch()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/natter log accept/),
  });
  await expect(gateway.tokens.change('t1', (each) => each)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(paired(gateway, '3')).rejects.toMatchObject({ code: 'unavailable' });
  await expect(gateway.pairings.all()).rejects.toMatchObject({ code: 'unavailable' });
  await said(gateway, /KV_natter_tokens ends at 1, but had reached 2.*KV_natter_pairings ends at 1, but had reached 2/);

  await withLog(config, { servers: broker.server.url }, async (resources) => {
    const losses = await findQueueLosses(resources);
    expect(losses.map(({ stream }) => stream)).toEqual(['KV_natter_tokens', 'KV_natter_pairings']);
    for (const loss of losses) await acceptQueueLoss(resources, loss, { actor: 'operator:olga', reason: 'no copy is left' });
  });
  await wellAgain(gateway);
  const tokens = await gateway.tokens.watch();
  afterwards(() => tokens.close());
  expect(tokens.get('t1'), 'what the older copy has').toMatchObject({ id: 't1' });
  expect(await gateway.pairings.all()).toMatchObject([{ paired: [{ senderId: '1' }] }]);
}, 90_000);

test('envelopes, timers and the log of deliveries: the same', async () => {
  const streams = ['INBOUND', 'TIMERS', 'DELIVERIES'].map((name) => eventStoreOf(broker.server, `NATTER_${name}`));
  const target = { channel: 'telegram', to: '7' };
  const record = { v: 1, outboundId: '1.0', outboundSeq: 1, key: freshKey(), target, attempt: 1, at: 1 } as const;
  const work = (ports: Ports, at: number) => [
    () => ports.inbound.publish({ ...envelope, id: randomUUID() }),
    () => ports.commands.schedule(`timer-${at}`, Date.now() + 3_600_000, command()),
    async () => ports.custody.append({ ...record, state: 'sending', at }, (await ports.custody.last(target))?.seq ?? 0),
  ];
  const writer = await broker.open();
  await broker.whileStopped(() => Promise.all(streams.map((stream) => stream.copyAs('older'))));
  await wellAgain(writer);
  for (const one of work(writer, 1)) await one();
  for (const queue of ['inbound', 'timers', 'deliveries'])
    await vi.waitFor(async () => expect(await witness(queue)).toMatchObject({ seq: 1 }), { timeout: 20_000 });
  await broker.whileStopped(() => Promise.all(streams.map((stream) => stream.putBack('older'))));

  await said(writer, /NATTER_INBOUND.*NATTER_TIMERS.*NATTER_DELIVERIES/);
  const another = await broker.open();
  for (const ports of [writer, another])
    for (const one of work(ports, 2)) await expect(one()).rejects.toMatchObject({ code: 'unavailable' });
}, 90_000);
