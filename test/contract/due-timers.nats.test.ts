import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createInMemoryDeadLetters } from '../../shared/adapters/in-memory/dead-letters.ts';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import { type DueTimers, forwardDueTimers } from '../../shared/adapters/nats/queue/due-timers.ts';
import { commandBinding } from '../../shared/adapters/streams/queue-binding.ts';
import type { CommandEnvelope } from '../../shared/domain/session/envelope.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { DeadLetters } from '../../shared/ports/dead-letters.ts';
import { encodeCommand } from '../../shared/wire/codec.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { streamNames, topologyOf } from '../../shared/wire/topology.ts';
import { startServer, type TestServer } from '../support/nats.ts';
import { commandTo } from './work-queue/work-queue.contract.ts';

const subjects = subjectsUnder('natter');
const soon = { timeout: 10_000 };
const { timers } = streamNames(subjects.prefix);
const whole = topologyOf(subjects, { replicas: 1, partitions: 1 });
/** Only the stream of the timers; what was handed out to a dead member comes again soon. */
const topology = {
  ...whole,
  streams: whole.streams.filter(({ name }) => name === timers),
  consumers: whole.consumers
    .filter(({ stream, name }) => stream === timers && name === 'commands')
    .map((consumer) => ({ ...consumer, ackWaitMs: 500 })),
};
let server: TestServer;
const open = (): Promise<NatsConnection> => openConnection({ servers: server.url, name: 'test', requestTimeoutMs: 1_000 });
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** A member that brings due timers to a queue: `publish` is that queue. */
const member = async (
  connection: NatsConnection,
  publish: (message: CommandEnvelope) => Promise<unknown>,
  deadLetters: DeadLetters = createInMemoryDeadLetters({ clock: systemClock }),
): Promise<DueTimers> =>
  forwardDueTimers({
    ...{ connection, publish, deadLetters, clock: systemClock, manager: await jetstreamManager(connection) },
    binding: commandBinding(subjects, 1),
  });

test('a due timer of a member that is killed before the queue has it is brought there by another (I1)', async () => {
  const [doomed, other] = [await open(), await open()];
  await provision(other, topology);
  const published: string[] = [];
  let release = () => {};
  const first = await member(doomed, async ({ id }) => {
    // What was said so far reaches the broker; nothing after it does.
    await doomed.flush();
    await doomed.close();
    published.push(id);
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const manager = await jetstreamManager(other);
  await manager.jetstream().publish(subjects.due('commands'), encodeCommand(commandTo('k', 'timer')));
  await vi.waitFor(() => expect(published).toEqual(['timer']), soon);

  const brought: string[] = [];
  const second = await member(other, async ({ id }) => brought.push(id));
  await vi.waitFor(() => expect(brought).toEqual(['timer']), soon);
  await vi.waitFor(async () => expect((await manager.consumers.info(timers, 'commands')).num_ack_pending).toBe(0), soon);
  release();
  await Promise.all([first.close(), second.close()]);
  await other.close();
});

test('a due timer that nobody can read is one dead letter, also if whoever put it there was killed at once (I2)', async () => {
  const [doomed, other] = [await open(), await open()];
  await provision(other, topology);
  const letters = createInMemoryDeadLetters({ clock: systemClock });
  const ids: string[] = [];
  const putting = (then: () => Promise<void>): DeadLetters => ({
    ...letters,
    put: async (letter) => {
      await letters.put(letter);
      ids.push(letter.id);
      await then();
    },
  });
  const nothing = async () => {};
  const first = await member(
    doomed,
    nothing,
    putting(() => doomed.close()),
  );
  const manager = await jetstreamManager(other);
  await manager.jetstream().publish(subjects.due('commands'), new Uint8Array([0xc1]));
  await vi.waitFor(() => expect(ids).toHaveLength(1), soon);

  const second = await member(other, nothing, putting(nothing));
  await vi.waitFor(() => expect(ids).toHaveLength(2), soon);
  expect(ids[1]).toBe(ids[0]);
  expect(await letters.count()).toBe(1);
  await Promise.all([first.close(), second.close()]);
  await other.close();
});
