import { setImmediate as turn } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { streamConfig } from '../../../../shared/adapters/nats/stream-config.ts';
import { StoreWatch } from '../../../../shared/adapters/nats/watch/store-watch.ts';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../../shared/wire/topology.ts';

/** Streams without a leader, on a broker that is only played: a cluster leaves them out of its list, or lists them without one. */
const commands = 'NATTER_COMMANDS';
const topologyWith = (replicas: 1 | 3) => topologyOf(subjectsUnder('natter'), { replicas, partitions: 2 });

/** A connection to a broker that stores everything. */
const connection = (): NatsConnection => {
  let answer: (error: null, reply: object) => void = () => {};
  return {
    isClosed: () => false,
    status: async function* () {},
    subscribe: (_: string, { callback }: { callback: typeof answer }) => {
      answer = callback;
    },
    publish: (_: string, __: Uint8Array, { reply }: { reply: string }) =>
      setImmediate(() => answer(null, { subject: reply, data: Buffer.from('{"seq":1}') })),
  } as unknown as NatsConnection;
};

const rig = async (atStart: Partial<Broker> = {}, replicas: 1 | 3 = 3) => {
  const broker: Broker = { deleted: [], unlisted: [], unled: [], isSilent: false, ...atStart };
  const topology = topologyWith(replicas);
  let monotonicMs = 0;
  let sleepers: { readonly until: number; wake(): void }[] = [];
  const clock = {
    now: () => monotonicMs,
    monotonic: () => monotonicMs,
    sleep: (ms: number) => new Promise<void>((wake) => sleepers.push({ until: monotonicMs + ms, wake })),
  };
  const specs = () => topology.streams.filter(({ name }) => !broker.deleted.includes(name));
  const streams = {
    names: async function* () {
      yield* specs().map(({ name }) => name);
    },
    list: async function* () {
      if (broker.isSilent) {
        await clock.sleep(1_000);
        throw new errors.TimeoutError();
      }
      for (const spec of specs().filter(({ name }) => !broker.unlisted.includes(name)))
        yield {
          config: streamConfig(spec),
          state: { consumer_count: topology.consumers.filter(({ stream }) => stream === spec.name).length },
          cluster: broker.unled.includes(spec.name) ? { name: 'c' } : { name: 'c', leader: 'one' },
        };
    },
  };
  const manager = { streams } as unknown as JetStreamManager;
  const options = { connection: connection(), manager, topology, clock, probe: 'natter.probe', requestTimeoutMs: 1_000 };
  const watch = await StoreWatch.start(options);
  onTestFinished(() => watch.stop());
  return {
    broker,
    /** What is told after this time. */
    after: async (ms: number) => {
      for (const end = monotonicMs + ms; monotonicMs < end; ) {
        monotonicMs += Math.min(500, end - monotonicMs);
        const due = sleepers.filter(({ until }) => until <= monotonicMs);
        sleepers = sleepers.filter((sleeper) => !due.includes(sleeper));
        for (const { wake } of due) wake();
        for (let turns = 0; turns < 5; turns++) await turn();
      }
      return watch.problems().map(String);
    },
  };
};
interface Broker {
  deleted: readonly string[];
  unlisted: readonly string[];
  unled: readonly string[];
  isSilent: boolean;
}
const told = (names: string) => [`no server of the broker leads ${names}: nothing is stored there`];

test.each(['unlisted', 'unled'] as const)(
  'a stream that is %s is told after an election would have ended, until it has a leader',
  async (how) => {
    const { broker, after } = await rig();
    expect(await after(2_000)).toEqual([]);
    broker[how] = [commands];
    expect(await after(10_000)).toEqual([]);
    expect(await after(2_000)).toEqual(told(commands));
    broker[how] = [];
    expect(await after(2_000)).toEqual([]);
  },
);

test('one election after another is none that does not end', async () => {
  const { broker, after } = await rig();
  for (const name of [commands, 'NATTER_EVENTS', commands]) {
    broker.unled = [name];
    expect(await after(8_000)).toEqual([]);
    broker.unled = [];
    expect(await after(2_000)).toEqual([]);
  }
});

test('who comes when there is no leader is told at once, and of all such streams', async () => {
  const { after } = await rig({ unled: ['NATTER_TIMERS'], unlisted: [commands] });
  expect(await after(0)).toEqual(told(`${commands}, NATTER_TIMERS`));
});

test('F10: what somebody deletes is told within five seconds, whenever that is, and so is that it is there again', async () => {
  const { broker, after } = await rig();
  for (const offsetMs of [0, 500, 1_000, 1_500]) {
    await after(offsetMs);
    broker.deleted = [commands];
    expect(await after(5_000)).toEqual([expect.stringContaining(`the broker has no stream ${commands}`)]);
    broker.deleted = [];
    expect(await after(5_000)).toEqual([]);
  }
});

test('a stream that is not there at all is missing, not without a leader', async () => {
  const { broker, after } = await rig();
  broker.deleted = [commands];
  expect(await after(20_000)).toEqual([expect.stringContaining(`the broker has no stream ${commands}`)]);
});

test('one answer that does not come is no failure, silence is, and the first answer ends it', async () => {
  const { broker, after } = await rig({}, 1);
  for (let round = 0; round < 3; round++) {
    broker.isSilent = true;
    expect(await after(3_000)).toEqual([]);
    broker.isSilent = false;
    expect(await after(4_000)).toEqual([]);
  }
  broker.isSilent = true;
  expect(await after(8_000)).toEqual([expect.stringContaining('the broker could not list its streams')]);
  broker.isSilent = false;
  expect(await after(4_000)).toEqual([]);
});
