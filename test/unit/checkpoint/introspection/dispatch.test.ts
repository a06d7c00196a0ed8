import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { requestsOf, startDispatch } from '../../../../services/checkpoint/introspection/dispatch.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import type { CheckpointRequest } from '../../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../../shared/domain/session/events.ts';
import type { LogWitness } from '../../../../shared/domain/session/log-witness.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { commitTo, keyOf, recorded, seenAt, userMessage } from '../../../support/domain/commits.ts';
import { until } from './rig.ts';

/** Pauses are 20 times as short; a lease lasts as long as ever, so that a process that stalls for a moment does not lose it. */
const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) };
const closers: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

const requested = (fromRev: number, toRev: number, afterSeq?: number): EventOf<'checkpoint_requested'> => ({
  ...{ type: 'checkpoint_requested', v: 1, reason: 'idle', sessionId: 's1', fromRev, toRev },
  ...(afterSeq !== undefined && { afterSeq }),
});

const open = () => {
  const system = openInMemory({ clock });
  const ports = system.portsFor('test');
  const handled: CheckpointRequest[] = [];
  return {
    ports,
    handled,
    /** Sessions `k0`, `k1`, … each with a message and a request. */
    speak: async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index++) {
        const key = keyOf(`agent:main:k${index}`);
        const first = await ports.events.append(commitTo(key, { events: [userMessage('hi')] }), 0);
        if (first.kind !== 'stored') throw new Error(first.kind);
        await ports.events.append(commitTo(key, { rev: 2, events: [requested(1, 1, first.seq - 1)] }), first.seq);
      }
    },
    consume: async (): Promise<void> => {
      const consumption = await ports.checkpoints.consume({
        member: 'consumer',
        handle: async ({ message }) => {
          handled.push(message);
          return { kind: 'done' };
        },
      });
      closers.push(() => consumption.close(100));
    },
    start: (member: string, change: Partial<Ports> = {}) => {
      const dispatch = startDispatch({
        ports: { ...system.portsFor(member), ...change },
        log: pino({ level: 'silent' }),
        member,
      });
      closers.push(() => dispatch.stop(1_000));
      return dispatch;
    },
  };
};

describe('A7/80: requests for introspection are found in the log', () => {
  test('wherever in a commit they stand; an older one does not say where to begin to read', () => {
    const commit = commitTo(keyOf('agent:main:main'), {
      rev: 9,
      events: [userMessage('hi'), requested(3, 8, 21), requested(1, 2)],
    });
    expect(requestsOf(recorded(commit, 30))).toEqual([
      { id: '30.1', key: 'agent:main:main', sessionId: 's1', reason: 'idle', fromRev: 3, toRev: 8, afterSeq: 21, throughSeq: 30 },
      { id: '30.2', key: 'agent:main:main', sessionId: 's1', reason: 'idle', fromRev: 1, toRev: 2, afterSeq: 0, throughSeq: 30 },
    ]);
  });

  test('each becomes one message, also when publishing or writing the position fails in between', async () => {
    const { ports, handled, speak, consume, start } = open();
    let calls = 0;
    const failing = <T>(work: () => Promise<T>): Promise<T> =>
      ++calls % 7 === 0 ? Promise.reject(new Error('the broker is away')) : work();
    const failingPorts = {
      checkpoints: {
        ...ports.checkpoints,
        publish: (message: CheckpointRequest) => failing(() => ports.checkpoints.publish(message)),
      },
      cursors: { ...ports.cursors, put: (name: string, seen: LogWitness) => failing(() => ports.cursors.put(name, seen)) },
    };
    await speak(0, 20);
    await consume();
    const dispatch = start('one', failingPorts);
    await speak(20, 40);
    const { lastSeq } = await ports.events.info();
    await until(async () =>
      expect(await ports.cursors.get('checkpoint-requests')).toMatchObject({ seq: lastSeq, digest: expect.any(String) }),
    );
    await until(async () => expect(await ports.checkpoints.lag()).toBe(0));
    expect(handled.map(({ key }) => key).sort()).toEqual([...Array(40).keys()].map((index) => `agent:main:k${index}`).sort());
    expect(calls).toBeGreaterThan(40);
    await until(() => expect(dispatch.problems()).toEqual([]));
  });

  test('one of two does it, and the other goes on where it stopped', async () => {
    const { ports, handled, speak, consume, start } = open();
    await consume();
    const both = [start('one'), start('two')];
    await speak(0, 5);
    await until(() => expect(handled).toHaveLength(5));
    const active = both.find((dispatch) => dispatch.metrics().introspection_dispatching === 1);
    await active?.stop(1_000);
    await speak(5, 10);
    await until(() => expect(handled).toHaveLength(10));
    const totals = both.map((dispatch) => dispatch.metrics().introspection_requests_total);
    expect(totals).toEqual([5, 5]);
    expect(await ports.checkpoints.lag()).toBe(0);
  });

  test('a log that was recreated is not read on, and it is said (I13)', async () => {
    const { ports, handled, speak, consume, start } = open();
    await ports.cursors.put('checkpoint-requests', { ...seenAt(1), incarnation: 99 });
    await consume();
    await speak(0, 1);
    const dispatch = start('one');
    await until(() => expect(dispatch.problems().join()).toMatch(/recreated/));
    expect(handled).toEqual([]);
  });
});
