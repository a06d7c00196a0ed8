import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { placementOf } from '../../../shared/adapters/streams/rendezvous.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { DeadLetters } from '../../../shared/ports/dead-letters.ts';
import type { AckOutcome, CommandBus, ConsumeOptions, Consumption, Delivery } from '../../../shared/ports/work-queue.ts';
import { encode } from '../../../shared/wire/codec.ts';

/** A process that takes part in the queue. */
export interface QueueProcess {
  readonly queue: CommandBus;
  /** It dies without a word: no hand-over, no farewell. */
  kill(member: string): Promise<void>;
}
/** A fresh, empty queue of commands with `queuePartitions` partitions, and what a test cannot do through the port. */
export interface QueueUnderTest {
  /** Each call is another process. */
  process(): Promise<QueueProcess>;
  readonly deadLetters: DeadLetters;
  /** Stores any bytes where a key's commands go. */
  inject(key: string, bytes: Uint8Array): Promise<void>;
  /** Puts bytes where timers appear when they are due. Absent where nobody but our own code could. */
  injectDue?(bytes: Uint8Array): Promise<void>;
  /** Brings one due timer to the queue and does not live to say so. Absent where that is one step. */
  dieForwarding?(): Promise<void>;
  /** Partition under which the key's messages lie now; absent where nothing but our own code would tell. */
  storedPartitions?(): Promise<ReadonlyMap<string, number>>;
  /** Takes the consumer of a partition away, and puts it back. Absent where there are no consumers. */
  deleteConsumer?(partition: number): Promise<void>;
  restoreConsumers?(): Promise<void>;
  /** The consumers lose where they were, as in the memory of a server that starts again. */
  forgetPositions(): Promise<void>;
  /** Messages that the queue keeps, done or not. */
  stored(): Promise<number>;
  /** Makes the stream and its consumers anew. Absent where there is no stream. */
  recreate?(): Promise<void>;
  /** Bounds for the takeover, ms. */
  readonly handOverMs: number;
  readonly takeoverMs: number;
  close(): Promise<void>;
}
export interface QueueBroker {
  queue(): Promise<QueueUnderTest>;
  close(): Promise<void>;
}
export const queuePartitions = 8;

let count = 0;
export const commandTo = (key: string, id: string = `command-${count++}`): CommandEnvelope => ({
  id,
  key: key as SessionKey,
  at: 1_700_000_000_000,
  correlationId: id,
  causationId: id,
  actor: 'test',
  data: { type: 'stop', reason: 'test' },
});

const done: AckOutcome = { kind: 'done' };
const recorded: AckOutcome = { kind: 'recorded' };
type Handler = (delivery: Delivery<CommandEnvelope>) => Promise<AckOutcome>;

/** A member that notes what it is given, what it acquires and what it loses. */
class Member {
  readonly name: string;
  readonly process: QueueProcess;
  readonly handled: Delivery<CommandEnvelope>[] = [];
  readonly calls: string[] = [];
  consumption!: Consumption;

  constructor(name: string, process: QueueProcess) {
    this.name = name;
    this.process = process;
  }
  async start(handle: Handler = async () => done, options: Partial<ConsumeOptions<CommandEnvelope>> = {}): Promise<this> {
    this.consumption = await this.process.queue.consume({
      member: this.name,
      handle: async (delivery) => {
        const verdict = await handle(delivery);
        if (verdict.kind === 'done' || verdict.kind === 'recorded') this.handled.push(delivery);
        return verdict;
      },
      acquired: (partition) => this.calls.push(`acquired ${partition}`),
      lost: (partition) => this.calls.push(`lost ${partition}`),
      ...options,
    });
    return this;
  }
  ids(key?: string): string[] {
    return this.handled.filter(({ message }) => key === undefined || message.key === key).map(({ message }) => message.id);
  }
}

interface QueueRig {
  readonly underTest: QueueUnderTest;
  /** Starts a member in a process of its own. */
  member(name: string, ...handler: Parameters<Member['start']>): Promise<Member>;
  /** A process that only publishes. */
  publisher(): Promise<CommandBus>;
}

/** Keys of all partitions, with characters that need an escape. */
const keys = [...Array(40).keys()].map((number) => `agent:main:chat.${(number * 7919) % 1009}:grüße@${number}/#+`);
const soon = { interval: 20 };

/** What every work queue does. */
export const workQueueContract = (name: string, start: () => Promise<QueueBroker>): void => {
  describe(`work queue: ${name}`, () => {
    let broker: QueueBroker;
    beforeAll(async () => {
      broker = await start();
    });
    afterAll(() => broker?.close());

    /** Each case has a queue of its own. Most of their time is waiting for time-outs, so several run at once. */
    const inRig = (play: (rig: QueueRig) => Promise<void>) => async (): Promise<void> => {
      const underTest = await broker.queue();
      try {
        await play({
          underTest,
          member: async (memberName, ...handler) => new Member(memberName, await underTest.process()).start(...handler),
          publisher: async () => (await underTest.process()).queue,
        });
      } finally {
        await underTest.close();
      }
    };
    const rule = (title: string, play: (rig: QueueRig) => Promise<void>) => test.concurrent(title, inRig(play));
    /** For a case that measures time. */
    const ruleAlone = (title: string, play: (rig: QueueRig) => Promise<void>) => test(title, inRig(play));
    /** Publishes one after another, so that the order is known. */
    const publishAll = async (queue: CommandBus, commands: readonly CommandEnvelope[]): Promise<void> => {
      for (const command of commands) await queue.publish(command);
    };
    /** Publishes to all keys, round after round, until `stop` is called; resolves with all it has published. */
    const keepPublishing = (queue: CommandBus): { stop(): void; published: Promise<CommandEnvelope[]> } => {
      let isWanted = true;
      const work = async (): Promise<CommandEnvelope[]> => {
        const published: CommandEnvelope[] = [];
        for (let round = 0; isWanted; round += 1) {
          const commands = keys.map((key) => commandTo(key, `${key} ${String(round).padStart(4, '0')}`));
          await Promise.all(commands.map((command) => queue.publish(command)));
          published.push(...commands);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return published;
      };
      return {
        stop: () => {
          isWanted = false;
        },
        published: work(),
      };
    };
    const perKey = (rounds: number): CommandEnvelope[] =>
      [...Array(rounds).keys()].flatMap((round) => keys.map((key) => commandTo(key, `${key} ${String(round).padStart(3, '0')}`)));
    /** Everything arrived, and within a key nothing older came after something newer. */
    const expectAllInOrder = (
      commands: readonly CommandEnvelope[],
      members: readonly Member[],
      merged: readonly string[],
    ): void => {
      expect(new Set(merged)).toEqual(new Set(commands.map(({ id }) => id)));
      for (const one of members) for (const key of keys) expect(one.ids(key)).toEqual([...one.ids(key)].sort());
    };
    /** The order in which a key's messages first took effect, over all members: what the watermark lets pass. */
    const journal = (): { handle: Handler; ids: () => string[]; outOfOrder: string[] } => {
      const watermark = new Map<string, number>();
      const ids: string[] = [];
      const outOfOrder: string[] = [];
      return {
        ids: () => ids,
        outOfOrder,
        handle: async ({ message, seq }) => {
          if (seq <= (watermark.get(message.key) ?? 0)) return recorded;
          const before = ids.filter((id) => id.startsWith(`${message.key} `)).at(-1);
          if (before !== undefined && before > message.id) outOfOrder.push(message.id);
          watermark.set(message.key, seq);
          ids.push(message.id);
          return recorded;
        },
      };
    };

    describe('publish', () => {
      rule(
        'is durable: what was published before anybody consumed arrives, unchanged, once, with position and attempt',
        async ({ member, publisher }) => {
          const queue = await publisher();
          const command = commandTo('agent:main:main');
          const { seq, duplicate } = await queue.publish(command);
          expect({ seq: seq > 0, duplicate }).toEqual({ seq: true, duplicate: false });
          const a = await member('a');
          await vi.waitFor(() => expect(a.handled).toHaveLength(1), soon);
          const partition = queue.partitionOf(command.key);
          expect(a.handled[0]).toMatchObject({ message: command, seq, partition, attempt: 1, incarnation: expect.any(Number) });
          await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
        },
      );

      rule('stores the same id once and answers with the first sequence (I2)', async ({ publisher }) => {
        const queue = await publisher();
        const command = commandTo('agent:main:main', 'the same\r\nid ü');
        const first = await queue.publish(command);
        expect(await queue.publish(command)).toEqual({ seq: first.seq, duplicate: true });
        await vi.waitFor(async () => expect(await queue.lag()).toBe(1), soon);
      });

      rule(
        'many at once are stored once each, in their order, and repeats among them are told (ADR 23)',
        async ({ underTest, member, publisher }) => {
          const queue = await publisher();
          const known = commandTo('agent:main:main', 'known');
          const { seq } = await queue.publish(known);
          const commands = perKey(5);
          const twice = commandTo('agent:main:main', 'twice');
          const [again, one, other, ...rest] = await Promise.all(
            [known, twice, twice, ...commands].map((each) => queue.publish(each)),
          );
          expect(again).toEqual({ seq, duplicate: true });
          expect([one, other].map((each) => each?.duplicate).sort()).toEqual([false, true]);
          expect(one?.seq).toBe(other?.seq);
          expect(rest.filter(({ duplicate }) => duplicate)).toEqual([]);
          expect(await underTest.stored()).toBe(commands.length + 2);
          const a = await member('a');
          await vi.waitFor(() => expect(a.handled).toHaveLength(commands.length + 2), { ...soon, timeout: 10_000 });
          const told = new Map(commands.map(({ id }, index) => [id, rest[index]?.seq]));
          const others = a.handled.filter(({ message }) => told.has(message.id));
          expect(new Map(others.map(({ message, seq: at }) => [message.id, at]))).toEqual(told);
          expect(new Set(told.values()).size).toBe(commands.length);
        },
      );

      rule('refuses what could not be read back', async ({ publisher }) => {
        const queue = await publisher();
        const huge = { ...commandTo('agent:main:main'), actor: 'x'.repeat(300_000) };
        await expect(queue.publish(huge)).rejects.toMatchObject({ code: 'too_large' });
      });

      rule('knows the partition in which the broker stores a key', async ({ underTest, publisher }) => {
        if (underTest.storedPartitions === undefined) return;
        const queue = await publisher();
        const odd = [
          'a',
          'A',
          'a.b',
          'a:b',
          'ü',
          '漢字',
          '🌍',
          'a~b',
          'a/b',
          "it's",
          '$',
          'a_b-c',
          '%'.slice(1) || 'percent',
          'q?',
          '"',
        ];
        const all = [...odd, ...keys, ...[...Array(300).keys()].map((number) => `k${number}:${(number * 7919).toString(36)}.é`)];
        for (const key of all) await queue.publish(commandTo(key));
        const stored = await underTest.storedPartitions();
        expect(stored.size).toBe(all.length);
        expect(new Map([...stored.keys()].map((key) => [key, queue.partitionOf(key)]))).toEqual(stored);
      });
    });

    describe('one member', () => {
      rule('gets all messages of a key in order, one at a time per partition', async ({ member, publisher }) => {
        const inHand = new Map<number, number>();
        let most = 0;
        const a = await member('a', async ({ partition }) => {
          inHand.set(partition, (inHand.get(partition) ?? 0) + 1);
          most = Math.max(most, inHand.get(partition) ?? 0);
          await new Promise((resolve) => setTimeout(resolve, 1));
          inHand.set(partition, (inHand.get(partition) ?? 0) - 1);
          return done;
        });
        const commands = perKey(5);
        const queue = await publisher();
        await publishAll(queue, commands);
        await vi.waitFor(() => expect(a.handled).toHaveLength(commands.length), soon);
        expectAllInOrder(commands, [a], a.ids());
        expect(most).toBe(1);
      });

      rule(
        'gets a message that it cannot do now again, and nothing newer of the partition before',
        async ({ member, publisher }) => {
          const seen: string[] = [];
          let refusals = 4;
          const a = await member('a', async ({ message, attempt }) => {
            seen.push(`${message.id} ${attempt}`);
            if (message.id === 'first' && refusals-- > 0) {
              if (refusals === 2) throw new Error('a handler that throws asks for another try');
              return { kind: 'retry' };
            }
            return done;
          });
          const queue = await publisher();
          await publishAll(queue, [commandTo('k', 'first'), commandTo('k', 'second')]);
          await vi.waitFor(() => expect(a.handled).toHaveLength(2), soon);
          expect(seen).toEqual(['first 1', 'first 2', 'first 3', 'first 4', 'first 5', 'second 1']);
        },
      );

      rule('keeps a message for as long as its handler needs', async ({ member, publisher }) => {
        let starts = 0;
        let finish = (_verdict: AckOutcome): void => {};
        const a = await member('a', () => {
          starts += 1;
          return new Promise((resolve) => {
            finish = resolve;
          });
        });
        const b = await member('b', async () => {
          starts += 1;
          return done;
        });
        const queue = await publisher();
        const key = await ownedKey(a, queue);
        await queue.publish(commandTo(key));
        await vi.waitFor(() => expect(starts).toBe(1), soon);
        await new Promise((resolve) => setTimeout(resolve, 4_000)); // Longer than the ack wait: the passing of time is what is tested.
        expect({ starts, b: b.handled.length, lost: a.calls.includes(`lost ${queue.partitionOf(key)}`) }).toEqual({
          starts: 1,
          b: 0,
          lost: false,
        });
        const closing = a.consumption.close();
        finish({ kind: 'retry' });
        await closing;
        await vi.waitFor(() => expect(b.handled).toHaveLength(1), soon);
        expect(b.handled[0]?.attempt).toBe(2);
      });

      rule(
        'puts what is not a command, or not of this key, into the dead letters and goes on',
        async ({ underTest, member, publisher }) => {
          const a = await member('a', async ({ message }) =>
            message.id === 'bad' ? { kind: 'dead', reason: 'nobody knows how' } : done,
          );
          const queue = await publisher();
          const foreign = keys.find((key) => queue.partitionOf(key) !== queue.partitionOf('k')) ?? '';
          const neighbour = keys.find((key) => key !== 'k' && queue.partitionOf(key) === queue.partitionOf('k')) ?? '';
          expect([foreign, neighbour]).not.toContain('');
          await underTest.inject('k', new Uint8Array([0xc1, 0xff]));
          await underTest.inject('k', encode({ id: 'half' }));
          await underTest.inject('k', encode(commandTo(foreign)));
          // Who may publish for one key alone must not be able to speak for its neighbours in the partition.
          await underTest.inject('k', encode(commandTo(neighbour)));
          await publishAll(queue, [commandTo('k', 'bad'), commandTo('k', 'good')]);
          await vi.waitFor(() => expect(a.ids()).toEqual(['good']), soon);
          const letters = (await underTest.deadLetters.list(10)).toReversed();
          expect(letters.map(({ service }) => service)).toEqual(Array(5).fill('session'));
          expect(letters.map(({ reason }) => reason).slice(2)).toEqual([
            expect.stringMatching(/belongs to partition/),
            expect.stringMatching(/belongs on the subject/),
            'nobody knows how',
          ]);
          const first = await underTest.deadLetters.get(letters[0]?.seq ?? 0);
          expect([...(first?.bytes ?? [])]).toEqual([0xc1, 0xff]);
          await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
        },
      );

      rule(
        'F5: takes a dead letter again byte for byte, by the key in it and under an id of its own, which is stored once',
        async ({ underTest, member, publisher }) => {
          const a = await member('a', async ({ message }) =>
            message.id === 'last' ? done : { kind: 'dead', reason: 'not yet' },
          );
          const queue = await publisher();
          const command = commandTo('k', 'late');
          await queue.publish(command);
          await vi.waitFor(async () => expect(await underTest.deadLetters.count()).toBe(1), soon);
          const bytes = encode({ ...command, newer: 'a field' });
          const results = await Promise.all([queue.resend(bytes, 'dead:1'), queue.resend(bytes, 'dead:1')]);
          expect(results.map(({ duplicate }) => duplicate).sort()).toEqual([false, true]);
          await publishAll(queue, [commandTo('k', 'last')]);
          await vi.waitFor(() => expect(a.ids()).toEqual(['last']), soon);
          expect(await underTest.deadLetters.count()).toBe(2);
          const [{ seq } = { seq: 0 }] = await underTest.deadLetters.list(1);
          expect(Buffer.from((await underTest.deadLetters.get(seq))?.bytes ?? [])).toEqual(Buffer.from(bytes));
          await expect(queue.resend(new Uint8Array([0xc1, 0xff]), 'dead:2')).rejects.toMatchObject({ code: 'invalid' });
        },
      );

      rule('says what it has: partitions without a message are acquired too, and lost when it closes', async ({ member }) => {
        const a = await member('a');
        const all = [...Array(queuePartitions).keys()];
        await vi.waitFor(() => expect(a.consumption.owned()).toEqual(all), soon);
        expect(a.consumption.problems()).toEqual([]);
        await a.consumption.close();
        expect(a.consumption.owned()).toEqual([]);
        expect(new Set(a.calls)).toEqual(new Set(all.flatMap((partition) => [`acquired ${partition}`, `lost ${partition}`])));
        await a.consumption.close();
      });
    });

    describe('timers (a timer is a delayed command)', () => {
      rule('come not before their time and at most a second late', async ({ member, publisher }) => {
        let arrivedAt = 0;
        await member('a', async () => {
          arrivedAt = Date.now();
          return done;
        });
        const queue = await publisher();
        const at = Date.now() + 700;
        await queue.schedule('idle', at, commandTo('k'));
        expect(await queue.lag()).toBe(0);
        await vi.waitFor(() => expect(arrivedAt).toBeGreaterThan(0), soon);
        expect(arrivedAt).toBeGreaterThanOrEqual(at);
        expect(arrivedAt - at).toBeLessThan(1_500);
      });

      rule('are not due now because they are due in centuries', async ({ member, publisher }) => {
        const a = await member('a');
        const queue = await publisher();
        for (const at of ['2261-01-01', '2263-01-01', '9999-12-31']) await queue.schedule(at, Date.parse(at), commandTo('k', at));
        await queue.schedule('last', Date.now() + 1_000, commandTo('k', 'last'));
        await vi.waitFor(() => expect(a.ids()).toContain('last'), soon);
        expect(a.ids()).toEqual(['last']);
      });

      rule('are replaced by key and name, and taken back', async ({ underTest, member, publisher }) => {
        const a = await member('a');
        const queue = await publisher();
        const at = Date.now() + 1_000;
        await queue.schedule('idle', at, commandTo('k', 'replaced'));
        await queue.schedule('idle', at, commandTo('k', 'new'));
        await queue.schedule('other', at, commandTo('k', 'other name'));
        await queue.schedule('cancelled', at, commandTo('k', 'cancelled'));
        await queue.schedule('idle', at, commandTo('k2', 'other key'));
        await queue.cancel('k', 'cancelled');
        await queue.cancel('k', 'never scheduled');
        const listed = async (of: { key?: string; name?: string }, limit = 10): Promise<string[]> =>
          (await queue.scheduled(of, limit)).map(({ name, message }) => `${name}: ${message.id}`).sort();
        await vi.waitFor(async () => expect(await listed({ key: 'k' })).toEqual(['idle: new', 'other: other name']), soon);
        expect(await listed({ name: 'idle' })).toEqual(['idle: new', 'idle: other key']);
        expect(await listed({ key: 'k2', name: 'idle' })).toEqual(['idle: other key']);
        expect(await listed({}, 1)).toHaveLength(1);
        expect(await listed({ key: 'nobody' })).toEqual([]);
        await queue.schedule('last', at + 1_000, commandTo('k', 'last'));
        await queue.schedule('past', at - 60_000, commandTo('k', 'past'));
        await vi.waitFor(() => expect(a.ids()).toContain('last'), soon);
        expect(a.ids().sort()).toEqual(['last', 'new', 'other key', 'other name', 'past']);
        expect(await underTest.deadLetters.list(1)).toEqual([]);
      });

      rule(
        'that became due when nobody was there come as soon as somebody is, and count as lag',
        async ({ member, publisher }) => {
          const queue = await publisher();
          const at = Date.now() + 300;
          for (const key of keys) await queue.schedule('idle', at, commandTo(key, key));
          await vi.waitFor(async () => expect(await queue.lag()).toBe(keys.length), soon);
          const a = await member('a');
          await vi.waitFor(() => expect(a.handled).toHaveLength(keys.length), soon);
          await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
          expect(new Set(a.ids())).toEqual(new Set(keys));
        },
      );

      rule('are stored once with the id they have, published or due (I2)', async ({ member, publisher }) => {
        const a = await member('a');
        const queue = await publisher();
        const at = Date.now() + 300;
        await queue.publish(commandTo('k', 'same'));
        await queue.schedule('one', at, commandTo('k', 'same'));
        await queue.schedule('two', at, commandTo('k', 'twice'));
        await queue.schedule('three', at, commandTo('k', 'twice'));
        await queue.schedule('last', at + 1_000, commandTo('k', 'last'));
        await vi.waitFor(() => expect(a.ids()).toContain('last'), soon);
        expect(a.ids()).toEqual(['same', 'twice', 'last']);
      });

      rule(
        'take effect once, though who brought one to the queue died before it could say so',
        async ({ underTest, member, publisher }) => {
          if (underTest.dieForwarding === undefined) return;
          const queue = await publisher();
          await queue.schedule('idle', Date.now(), commandTo('k', 'timer'));
          await underTest.dieForwarding();
          // A consumer counts on its own replica, which may be a moment behind.
          await vi.waitFor(async () => expect(await queue.lag()).toBe(2), soon);
          const a = await member('a');
          await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
          expect(a.ids()).toEqual(['timer']);
        },
      );

      rule('that nobody can read are dead letters, and hold nothing up', async ({ underTest, member, publisher }) => {
        if (underTest.injectDue === undefined) return;
        const a = await member('a');
        const queue = await publisher();
        await underTest.injectDue(new Uint8Array([0xc1]));
        await queue.schedule('idle', Date.now(), commandTo('k', 'fine'));
        await vi.waitFor(() => expect(a.ids()).toEqual(['fine']), soon);
        await vi.waitFor(async () => expect(await underTest.deadLetters.list(2)).toHaveLength(1), soon);
        await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
      });
    });

    describe('several members', () => {
      rule('share out the partitions: each has some, none has another one', async ({ member, publisher }) => {
        const members = [await member('a'), await member('b')];
        const queue = await publisher();
        await vi.waitFor(() => {
          const [a, b] = members.map(({ consumption }) => consumption.owned());
          expect([...(a ?? []), ...(b ?? [])].sort()).toEqual([...Array(queuePartitions).keys()]);
          expect([a?.length !== 0, b?.length !== 0]).toEqual([true, true]);
        }, soon);
        const commands = perKey(2);
        await publishAll(queue, commands);
        await vi.waitFor(() => expect(members.flatMap((one) => one.ids())).toHaveLength(commands.length), soon);
        for (const one of members)
          expect(one.consumption.owned()).toEqual(expect.arrayContaining(one.handled.map(({ partition }) => partition)));
      });

      rule('keep the order per key while one joins and one is closed', async ({ member, publisher }) => {
        const log = journal();
        const a = await member('a', log.handle);
        const publishing = keepPublishing(await publisher());
        await vi.waitFor(() => expect(log.ids().length).toBeGreaterThan(100), soon);
        const b = await member('b', log.handle);
        await vi.waitFor(() => expect(b.handled.length).toBeGreaterThan(20), soon);
        await a.consumption.close();
        const atClose = a.handled.length;
        await vi.waitFor(() => expect(b.handled.length).toBeGreaterThan(500), soon);
        publishing.stop();
        const commands = await publishing.published;
        await vi.waitFor(() => expect(log.ids()).toHaveLength(commands.length), soon);
        expectAllInOrder(commands, [a, b], log.ids());
        expect({ outOfOrder: log.outOfOrder, more: a.handled.length - atClose }).toEqual({ outOfOrder: [], more: 0 });
        expect(a.calls.filter((call) => call.startsWith('lost'))).toHaveLength(
          a.calls.filter((call) => call.startsWith('acquired')).length,
        );
      });

      ruleAlone('hand over at once when one is closed', async ({ underTest, member, publisher }) => {
        const [a, b] = [await member('a'), await member('b')];
        const queue = await publisher();
        const key = await ownedKey(a, queue);
        await queue.publish(commandTo(key));
        await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
        const began = performance.now();
        const closing = a.consumption.close();
        await queue.publish(commandTo(key));
        await vi.waitFor(() => expect(b.handled).toHaveLength(1), { ...soon, interval: 1 });
        const took = performance.now() - began;
        console.info(`${name}: graceful hand-over ${took.toFixed(0)} ms`);
        expect(took).toBeLessThan(underTest.handOverMs);
        await closing;
      });

      rule(
        'hand over when the owner has finished what nobody else can continue, and serve until then (F27)',
        async ({ member, publisher }) => {
          let isBusy = true;
          const a = await member('a', undefined, { isBusy: () => isBusy });
          const queue = await publisher();
          await vi.waitFor(() => expect(a.consumption.owned()).toHaveLength(queuePartitions), soon);
          const b = await member('b');
          // Longer than it takes to acquire a quiet partition, and to give up a silent member.
          await new Promise((resolve) => setTimeout(resolve, 3_500));
          await publishAll(queue, perKey(1));
          await vi.waitFor(() => expect(a.handled).toHaveLength(keys.length), soon);
          expect({ calls: b.calls, handled: b.handled }).toEqual({ calls: [], handled: [] });

          isBusy = false;
          await vi.waitFor(() => expect(b.consumption.owned().length).toBeGreaterThan(0), soon);
          isBusy = true;
          const last = a.consumption.close();
          await publishAll(queue, [commandTo(await ownedKey(a, queue), 'served while it leaves')]);
          await vi.waitFor(() => expect(a.ids()).toContain('served while it leaves'), soon);
          isBusy = false;
          await last;
          await vi.waitFor(() => expect(b.consumption.owned()).toHaveLength(queuePartitions), soon);
          expect(b.handled).toEqual([]);
        },
      );

      rule('wait also for what the message in hand starts', async ({ member, publisher }) => {
        let finishFirst = (): void => {};
        const first = new Promise<void>((resolve) => {
          finishFirst = resolve;
        });
        let isBusy = false;
        const queue = await publisher();
        const key = keys.find((each) => placementOf(['a', 'b'], queue.partitionOf(each)).owner === 'b') ?? '';
        const handle: Handler = async ({ message: { id } }) => {
          if (id === 'first') await first;
          isBusy = true;
          return recorded;
        };
        const a = await member('a', handle, { isBusy: (partition) => isBusy && partition === queue.partitionOf(key) });
        await publishAll(queue, [commandTo(key, 'first'), commandTo(key, 'second')]);
        const b = await member('b');
        await vi.waitFor(() => expect(b.consumption.owned()).not.toEqual([]), soon);
        finishFirst();
        await vi.waitFor(() => expect(a.ids()).toEqual(['first', 'second']), soon);
        expect(b.consumption.owned()).not.toContain(queue.partitionOf(key));
        isBusy = false;
        await vi.waitFor(() => expect(b.consumption.owned()).toContain(queue.partitionOf(key)), soon);
        expect(b.handled).toEqual([]);
      });

      rule('hand over what the owner does not finish in time', async ({ member, publisher }) => {
        const a = await member('a', undefined, { isBusy: () => true });
        const b = await member('b');
        const queue = await publisher();
        const key = await ownedKey(a, queue);
        await a.consumption.close(300);
        await queue.publish(commandTo(key, 'next'));
        await vi.waitFor(() => expect(b.ids()).toEqual(['next']), soon);
      });

      rule('give back a message that waits for another try when one is closed', async ({ member, publisher }) => {
        const a = await member('a', async () => ({ kind: 'retry' }));
        const b = await member('b');
        const queue = await publisher();
        await queue.publish(commandTo(await ownedKey(a, queue), 'difficult'));
        await vi.waitFor(async () => expect(await queue.lag()).toBe(1), soon);
        await a.consumption.close();
        await vi.waitFor(() => expect(b.ids()).toEqual(['difficult']), { ...soon, timeout: 2_500 });
      });

      rule('take over from one that dies: nothing is lost, the order holds', async ({ member, publisher }) => {
        const log = journal();
        const [a, b] = [await member('a', log.handle), await member('b', log.handle)];
        const publishing = keepPublishing(await publisher());
        await vi.waitFor(() => expect(Math.min(a.handled.length, b.handled.length)).toBeGreaterThan(20), soon);
        await a.process.kill('a');
        const atDeath = b.handled.length;
        await vi.waitFor(() => expect(b.handled.length).toBeGreaterThan(atDeath + 200), soon);
        publishing.stop();
        const commands = await publishing.published;
        await vi.waitFor(() => expect(log.ids()).toHaveLength(commands.length), soon);
        expectAllInOrder(commands, [a, b], log.ids());
        expect(log.outOfOrder).toEqual([]);
      });

      rule(
        'take over within seconds what a dying one had in hand, and tell that it comes again',
        async ({ underTest, member, publisher }) => {
          const a = await member('a', () => new Promise<AckOutcome>(() => {}));
          const b = await member('b');
          const queue = await publisher();
          const key = await ownedKey(a, queue);
          await publishAll(queue, [commandTo(key, '1 in hand'), commandTo(key, '2 behind')]);
          await vi.waitFor(async () => expect(await queue.lag()).toBe(2), soon);
          await new Promise((resolve) => setTimeout(resolve, 300)); // For the message to be in hand, which only `a` could tell.
          const began = performance.now();
          await a.process.kill('a');
          await queue.publish(commandTo(key, '3 after its death'));
          await vi.waitFor(() => expect(b.handled.length).toBeGreaterThan(0), { ...soon, interval: 5 });
          const took = performance.now() - began;
          console.info(`${name}: takeover of a message in hand ${took.toFixed(0)} ms`);
          expect(took).toBeLessThan(underTest.takeoverMs);
          await vi.waitFor(() => expect(b.ids()).toEqual(['1 in hand', '2 behind', '3 after its death']), soon);
          expect(b.handled[0]?.attempt).toBeGreaterThan(1);
          expect(b.calls).toContain(`acquired ${queue.partitionOf(key)}`);
        },
      );
    });

    describe('what is done (ADR 9)', () => {
      const commands = perKey(5);
      const allRecorded: Handler = async () => recorded;

      rule(
        'counts no more, and what is recorded leaves the queue soon, many at a time',
        async ({ underTest, member, publisher }) => {
          const queue = await publisher();
          await publishAll(queue, commands);
          const a = await member('a', allRecorded);
          await vi.waitFor(() => expect(a.handled).toHaveLength(commands.length), soon);
          await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
          await vi.waitFor(async () => expect(await underTest.stored()).toBe(0), soon);
          await underTest.forgetPositions();
          const last = commandTo('k', 'last');
          await queue.publish(last);
          await vi.waitFor(() => expect(a.ids()).toContain('last'), soon);
          expect(a.handled).toHaveLength(commands.length + 1);
        },
      );

      rule(
        'is gone at once where nothing recorded tells of it, though the rest may come again',
        async ({ underTest, member, publisher }) => {
          const queue = await publisher();
          const isTold = ({ message }: Delivery<CommandEnvelope>): boolean => message.id.endsWith('2');
          const a = await member('a', async (delivery) => (isTold(delivery) ? done : recorded));
          await publishAll(queue, commands);
          await vi.waitFor(() => expect(a.handled).toHaveLength(commands.length), soon);
          await underTest.forgetPositions();
          await publishAll(
            queue,
            keys.map((key) => commandTo(key, `${key} last`)),
          );
          await vi.waitFor(() => expect(a.ids().filter((id) => id.endsWith('last'))).toHaveLength(keys.length), soon);
          const again = a.handled.slice(commands.length);
          expect(again.filter(isTold)).toEqual([]);
          for (const key of keys) {
            const ids = again.filter(({ message }) => message.key === key).map(({ message }) => message.id);
            expect(ids).toEqual([...ids].sort());
          }
        },
      );

      rule(
        'stays when its owner dies, comes to the next one if the broker forgets, and goes with what that one does',
        async (rig) => {
          const { underTest, member, publisher } = rig;
          const queue = await publisher();
          const log = journal();
          const handle: Handler = async (delivery) => {
            await log.handle(delivery);
            return recorded;
          };
          await publishAll(queue, commands);
          const a = await member('a', handle);
          await vi.waitFor(() => expect(log.ids().length).toBeGreaterThan(commands.length / 2), soon);
          await a.process.kill('a');
          const b = await member('b', handle);
          await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
          await underTest.forgetPositions();
          await vi.waitFor(async () => expect(await queue.lag()).toBe(0), soon);
          const after = keys.map((key) => commandTo(key, `${key} last`));
          await publishAll(queue, after);
          await vi.waitFor(() => expect(log.ids()).toHaveLength(commands.length + after.length), soon);
          expect(log.outOfOrder).toEqual([]);
          expect(new Set(log.ids()).size).toBe(log.ids().length);
          await vi.waitFor(async () => expect(await underTest.stored()).toBe(0), soon);
          await b.consumption.close();
        },
      );

      rule('takes nothing with it out of a stream that was made anew', async ({ underTest, member, publisher }) => {
        if (underTest.recreate === undefined) return;
        const queue = await publisher();
        const a = await member('a', allRecorded);
        await publishAll(queue, commands);
        await vi.waitFor(() => expect(a.handled).toHaveLength(commands.length), soon);
        const seqs = a.handled.map(({ seq }) => seq);
        await underTest.recreate();
        const { seq } = await queue.publish(commandTo('k', 'first'));
        expect(seq).toBeGreaterThan(Math.max(...seqs));
        await publishAll(
          queue,
          keys.map((key) => commandTo(key, `${key} anew`)),
        );
        await vi.waitFor(() => expect(a.ids().filter((id) => id.endsWith('anew'))).toHaveLength(keys.length), soon);
        expect(a.ids()).toContain('first');
        expect(a.handled.at(-1)?.incarnation).toBeGreaterThan(a.handled[0]?.incarnation ?? 0);
      });
    });

    rule('reports a consumer that is gone and goes on when it is back', async ({ underTest, member, publisher }) => {
      if (underTest.deleteConsumer === undefined) return;
      const a = await member('a');
      const queue = await publisher();
      const partition = queue.partitionOf('k');
      await queue.publish(commandTo('k', 'before'));
      await vi.waitFor(() => expect(a.ids()).toEqual(['before']), soon);
      await underTest.deleteConsumer(partition);
      await vi.waitFor(() => expect(a.calls).toContain(`lost ${partition}`), soon);
      const stored = queue.publish(commandTo('k', 'meanwhile'));
      await vi.waitFor(() => expect(a.consumption.problems().join()).toContain(String(partition)), { ...soon, timeout: 10_000 });
      await stored;
      await underTest.restoreConsumers?.();
      await vi.waitFor(() => expect(a.ids()).toEqual(['before', 'meanwhile']), soon);
      await vi.waitFor(() => expect(a.consumption.problems()).toEqual([]), soon);
    });
  });
};

/** A key of a partition that this member has. */
const ownedKey = (member: Member, queue: CommandBus): Promise<string> =>
  vi.waitFor(() => {
    const found = keys.find((key) => member.consumption.owned().includes(queue.partitionOf(key)));
    if (found === undefined) throw new Error(`${member.name} has no partition yet`);
    return found;
  }, soon);
