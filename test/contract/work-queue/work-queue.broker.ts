import { jetstreamManager } from '@nats-io/jetstream';
import { createInMemoryDeadLetters } from '../../../shared/adapters/in-memory/dead-letters.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { commandQueue } from '../../../shared/adapters/nats/queue/work-queue.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { escapeText, unescapeText } from '../../../shared/kit/text/escape-text.ts';
import { decodeCommand } from '../../../shared/wire/codec.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { bucketNames, partitionConsumer, streamNames, topologyOf } from '../../../shared/wire/topology.ts';
import { type QueueUnderTest, queuePartitions } from './work-queue.contract.ts';

let prefixes = 0;

/** A queue of its own on a broker: each has another prefix. */
export const natsWorkQueue = async (servers: string, replicas: 1 | 3): Promise<QueueUnderTest> => {
  const subjects = subjectsUnder(`queue${prefixes++}`);
  const open = (name: string) => openConnection({ servers, name, requestTimeoutMs: 2_000 });
  const connections = [await open('work queue test')];
  const connection = connections[0]!;
  const whole = topologyOf(subjects, { replicas, partitions: queuePartitions });
  const { commands: stream, timers } = streamNames(subjects.prefix);
  const used = [stream, timers, `KV_${bucketNames(subjects.prefix).hosts}`];
  const topology = {
    ...whole,
    streams: whole.streams.filter(({ name }) => used.includes(name)),
    consumers: whole.consumers.filter(({ stream: of, name }) => of === stream || (of === timers && name === 'commands')),
  };
  await provision(connection, topology);
  const manager = await jetstreamManager(connection);
  const deadLetters = createInMemoryDeadLetters({ clock: systemClock });
  return {
    deadLetters,
    handOverMs: 1_500,
    takeoverMs: 6_000,
    process: async () => {
      const own = await open('member');
      connections.push(own);
      return {
        queue: commandQueue({
          connection: own,
          subjects,
          topology,
          deadLetters,
          clock: systemClock,
          requestTimeoutMs: 2_000,
        }),
        kill: () => own.close(),
      };
    },
    inject: async (key, bytes) => {
      await manager.jetstream().publish(subjects.command(key), bytes);
    },
    injectDue: async (bytes) => {
      await manager.jetstream().publish(subjects.due('commands'), bytes);
    },
    dieForwarding: async () => {
      const due = await (await manager.jetstream().consumers.get(timers, 'commands')).next({ expires: 5_000 });
      const { key, id } = decodeCommand(due?.data ?? new Uint8Array());
      await manager.jetstream().publish(subjects.command(key), due?.data, { msgID: escapeText(id) });
    },
    storedPartitions: async () => {
      const { state } = await manager.streams.info(stream, { subjects_filter: `${subjects.prefix}.command.>` });
      return new Map(
        Object.keys(state.subjects ?? {}).map((subject) => {
          const [partition, key] = subject.slice(`${subjects.prefix}.command.`.length).split('.');
          return [unescapeText(key ?? ''), Number(partition)];
        }),
      );
    },
    deleteConsumer: async (partition) => {
      await manager.consumers.delete(stream, partitionConsumer(partition));
    },
    restoreConsumers: async () => {
      await provision(connection, topology);
    },
    forgetPositions: async () => {
      await Promise.all(
        [...Array(queuePartitions).keys()].map((partition) => manager.consumers.delete(stream, partitionConsumer(partition))),
      );
      await provision(connection, topology);
    },
    stored: async () => {
      const { state } = await manager.streams.info(stream, { subjects_filter: `${subjects.prefix}.command.>` });
      return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
    },
    recreate: async () => {
      await manager.streams.delete(stream);
      await provision(connection, topology);
    },
    close: async () => {
      await Promise.all(used.map((name) => manager.streams.delete(name)));
      await Promise.all(connections.map((one) => one.close()));
    },
  };
};
