import { describe, expect, test } from 'vitest';
import type { Ports } from '../../../../shared/ports/index.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { homeKey, keyOf, post, type Rig, type RigOptions, rig } from '../rig.ts';
import { script } from '../script.ts';
import { type Served, serve } from '../served.ts';

const minute = 60_000;
const idleMs = 30 * minute;
/** What the broker may be late. */
const lateMs = 1_000;

const reasons = (served: Served): string[] => served.requests().map(({ reason }) => reason);

/** The same ports, with one call of the queue or the log changed. */
const withPorts =
  (change: (ports: Ports) => Partial<Ports>) =>
  (ports: Ports): Ports => ({ ...ports, ...change(ports) });
const withSchedule = (schedule: (ports: Ports) => Ports['commands']['schedule']) =>
  withPorts((ports) => ({
    commands: new Proxy(ports.commands, {
      get: (queue, name) => {
        const value: unknown = name === 'schedule' ? schedule(ports) : Reflect.get(queue, name);
        return typeof value === 'function' ? value.bind(queue) : value;
      },
    }),
  }));
const never = () => new Promise<never>(() => {});

describe('A7/83: the idle timer', () => {
  test('A7/83: fires once, within a second, after a silence of that length', async () => {
    const served = await serve();
    const beganAt = served.clock.now();
    await served.say('m1');
    await served.clock.pass(idleMs - 20);
    expect(reasons(served)).toEqual([]);
    await served.clock.pass(lateMs);
    expect(served.requests()).toEqual([{ reason: 'idle', at: beganAt + idleMs }]);
    await served.clock.pass(10 * idleMs);
    expect(served.requests()).toHaveLength(1);
  });

  test('A5/68, A7/83: is cleared by a message and set again after its turn: the checkpoint comes when the conversation is over', async () => {
    const served = await serve();
    for (let index = 0; index < 7; index++) {
      await served.say(`m${index}`);
      await served.clock.pass(20 * minute - 10);
    }
    const lastAt = served.clock.now() - 20 * minute;
    expect(reasons(served)).toEqual([]);
    await served.clock.pass(3 * idleMs);
    expect(served.requests()).toEqual([{ reason: 'idle', at: lastAt + idleMs }]);
    await served.say('again');
    await served.clock.pass(idleMs + lateMs);
    expect(reasons(served)).toEqual(['idle', 'idle']);
  });

  test('A7/83: costs one schedule for a whole conversation, and none for what is covered by a checkpoint', async () => {
    const scheduled: string[] = [];
    const served = await serve({
      portsOf: withSchedule((ports) => (name, at, message) => {
        scheduled.push(name);
        return ports.commands.schedule(name, at, message);
      }),
    });
    for (let index = 0; index < 20; index++) await served.say(`m${index}`);
    expect(scheduled).toEqual(['idle-checkpoint']);
    await served.clock.pass(10 * idleMs);
    expect(reasons(served)).toEqual(['idle']);
    expect(scheduled.length).toBeLessThanOrEqual(2);
  });

  test('A7/83: is set when the command is repeated, if its host died between the commit and the timer', async () => {
    const served = await serve({ portsOf: withSchedule(() => never) });
    await served.say('m1');
    const before = served.events().length;
    await served.crash({ portsOf: (ports) => ports });
    await served.clock.pass(2 * idleMs);
    expect(served.events().slice(0, before)).toContainEqual(expect.objectContaining({ type: 'turn_completed' }));
    expect(reasons(served)).toEqual(['idle']);
  });

  test('A7/83: neither the answer nor the turn waits until it is set; the acknowledgement does', async () => {
    const made = rig({ portsOf: withSchedule(() => never) });
    const seen: string[] = [];
    void made.ports.answers.wait('a', minute).then((answer) => seen.push(answer?.outcome ?? 'none'));
    const message = { ...post('[[think 20]] hello', 'a'), answerTo: made.ports.answers.address };
    void made.take(message).then(() => seen.push('acknowledged'));
    await made.clock.pass(100);
    expect(seen).toEqual(['accepted']);
    expect(made.events().at(-1)?.type).toBe('turn_completed');
    await made.clock.pass(lateMs);
    expect(seen).toEqual(['accepted', 'acknowledged']);
  });

  test('A7/83: a message of a loaded session is acknowledged without the timer that is set once more, in case it was lost', async () => {
    const made = rig();
    await made.take(post('hello', 'a'));
    const scheduled: string[] = [];
    const silent = withSchedule(() => (name) => {
      scheduled.push(name);
      return never();
    });
    made.restart({ portsOf: silent });
    const acknowledged: string[] = [];
    for (const id of ['b', 'c']) void made.take(post('hello', id)).then(() => acknowledged.push(id));
    await made.clock.pass(100);
    expect({ acknowledged, scheduled }).toEqual({ acknowledged: ['b', 'c'], scheduled: ['idle-checkpoint'] });
  });

  test('A7/83: waits for a turn that takes longer, and counts from its answer', async () => {
    let served: Served | null = null;
    const slow = (clock: Rig['clock']): Model => ({
      ...script([]),
      step: async () => {
        await clock.sleep(100 * minute);
        return { kind: 'reply', text: 'at last', model: 'slow', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
      },
    });
    served = await serve({ model: slow, settings: { agent: { stallMs: 300 * minute } } });
    await served.say('m1');
    await served.clock.pass(100 * minute);
    const answeredAt = served.system.events.stored().at(-1)?.at ?? 0;
    expect(served.events().at(-1)).toMatchObject({ type: 'turn_completed' });
    expect(reasons(served)).toEqual([]);
    await served.clock.pass(2 * idleMs);
    expect(served.requests()).toEqual([{ reason: 'idle', at: answeredAt + idleMs }]);
  });

  test('A7/83: follows a checkpoint in the middle of a turn: the turn’s answer is not covered yet', async () => {
    const slow = (clock: Rig['clock']): Model => ({
      ...script([]),
      step: async () => {
        await clock.sleep(45 * minute);
        return { kind: 'reply', text: 'at last', model: 'slow', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
      },
    });
    const served = await serve({ model: slow, settings: { agent: { stallMs: 300 * minute } } });
    await served.say('m1');
    await served.ask('checkpoint');
    await served.clock.pass(45 * minute + 3 * idleMs);
    expect(reasons(served)).toEqual(['manual', 'idle']);
  });

  test('A7/83: a message that is only remembered sets it too', async () => {
    const served = await serve();
    await served.ask('append m1');
    await served.clock.pass(idleMs + lateMs);
    expect(reasons(served)).toEqual(['idle']);
  });

  test('A7/83: no process has it in memory: hosts come and go', async () => {
    const served = await serve();
    await served.say('m1');
    for (let times = 0; times < 5; times++) {
      await served.crash();
      await served.clock.pass(idleMs / 5);
    }
    await served.clock.pass(lateMs + minute);
    expect(reasons(served)).toEqual(['idle']);
  });

  test('A7/83: of each session its own', async () => {
    const served = await serve();
    const keys = Array.from({ length: 5 }, (_, index) => keyOf(`session-${index}`));
    const said: number[] = [];
    for (const [index, key] of keys.entries()) {
      said.push(served.clock.now());
      await served.say(`m${index}`, key);
      await served.clock.pass(minute);
    }
    await served.clock.pass(2 * idleMs);
    expect(keys.map((key) => served.requests(key))).toEqual(said.map((at) => [{ reason: 'idle', at: at + idleMs }]));
  });

  test('A7/83: a deleted session has nothing to introspect; its next generation has', async () => {
    const served = await serve();
    await served.say('m1');
    await served.ask('delete key');
    await served.clock.pass(3 * idleMs);
    expect(reasons(served)).toEqual([]);
    await served.say('m2');
    await served.clock.pass(idleMs + lateMs);
    expect(reasons(served)).toEqual(['idle']);
  });

  test('A7/83, I10: where the broker takes no timer the message is taken all the same, and the next one sets it', async () => {
    let fails = true;
    const served = await serve({
      portsOf: withSchedule(
        (ports) =>
          (...given) =>
            fails ? Promise.reject(new Error('no stream')) : ports.commands.schedule(...given),
      ),
    });
    await served.say('m1');
    expect(served.events().at(-1)).toMatchObject({ type: 'turn_completed' });
    await served.clock.pass(3 * idleMs);
    expect(reasons(served)).toEqual([]);
    fails = false;
    await served.say('m2');
    await served.clock.pass(idleMs + lateMs);
    expect(reasons(served)).toEqual(['idle']);
  });

  test('A7/83, I10: a message does not wait for a broker that does not answer for its timer', async () => {
    const served = await serve({ portsOf: withSchedule(() => never) });
    await served.say('m1');
    await served.clock.pass(5_000);
    expect(served.events().at(-1)).toMatchObject({ type: 'turn_completed' });
    await served.crash({ portsOf: (ports) => ports });
    await served.say('m2');
    await served.clock.pass(2 * idleMs);
    expect(reasons(served)).toEqual(['idle']);
  });

  test('A7/80, 83: what failed is tried again once when the timer fires; the next message sets the timer again', async () => {
    const served = await serve();
    const fail = async (): Promise<void> => {
      const [request] = served
        .events()
        .filter((event) => event.type === 'checkpoint_requested')
        .slice(-1);
      if (request?.type !== 'checkpoint_requested') throw new Error('nothing was asked for');
      const { reason, sessionId, fromRev, toRev } = request;
      const result = { kind: 'failed' as const, code: 'model_auth', message: 'no key' };
      await served.ask({
        id: `failed-${toRev}`,
        data: { type: 'record_introspection', reason, sessionId, fromRev, toRev, toSeq: 1, result },
      });
    };
    await served.say('m1');
    await served.ask('checkpoint');
    await fail();
    await served.clock.pass(idleMs + lateMs);
    expect(reasons(served)).toEqual(['manual', 'idle']);
    await fail();
    await served.clock.pass(5 * idleMs);
    expect(reasons(served)).toEqual(['manual', 'idle']);
    await served.say('m2');
    await served.clock.pass(idleMs + lateMs);
    expect(reasons(served)).toEqual(['manual', 'idle', 'idle']);
  });

  test('A7/83: one that was lost with its host is set by the first message after the next load', async () => {
    const lost: RigOptions['portsOf'] = withSchedule(() => async () => {});
    const served = await serve({ portsOf: lost });
    await served.say('m1');
    await served.crash({ portsOf: (ports) => ports });
    await served.say('m2');
    await served.clock.pass(2 * idleMs);
    expect(reasons(served)).toEqual(['idle']);
  });
});

describe('A7/83: a host that dies around its timer', () => {
  test('A7/83: between the timer and the message: the message comes again, and with it one timer', async () => {
    const dying = withPorts(({ events }) => ({
      events: new Proxy(events, {
        get: (log, name) => {
          const value: unknown = name === 'append' ? never : Reflect.get(log, name);
          return typeof value === 'function' ? value.bind(log) : value;
        },
      }),
    }));
    const served = await serve({ portsOf: dying });
    await served.say('m1');
    expect(served.events()).toEqual([]);
    await served.crash({ portsOf: (ports) => ports });
    await served.clock.pass(minute);
    expect(served.events().filter(({ type }) => type === 'user_message')).toHaveLength(1);
    await served.clock.pass(3 * idleMs);
    expect(reasons(served)).toEqual(['idle']);
  });

  test.each(['before it is set again', 'after it is set again, before that is said to be done'])(
    'A7/83: when it is due too early, %s: it is due once',
    async (when) => {
      let dies = false;
      const dying = withSchedule((ports) => async (...given) => {
        if (dies && when.startsWith('before')) return never();
        await ports.commands.schedule(...given);
        return dies ? never() : undefined;
      });
      const served = await serve({ portsOf: dying });
      await served.say('m1');
      await served.clock.pass(20 * minute);
      await served.say('m2');
      const lastAt = served.clock.now() - 10;
      dies = true;
      await served.clock.pass(10 * minute);
      await served.crash({ portsOf: (ports) => ports });
      await served.clock.pass(5 * idleMs);
      expect(served.requests()).toEqual([{ reason: 'idle', at: lastAt + idleMs }]);
    },
  );

  test('A7/83: a timer that comes twice is one', async () => {
    const served = await serve();
    await served.say('m1');
    await served.clock.pass(idleMs + lateMs);
    await served.say('m2');
    served.system.commands.forgetPositions();
    await served.clock.pass(idleMs + lateMs);
    expect(reasons(served)).toEqual(['idle', 'idle']);
  });
});

describe('A7/81: the turn limit', () => {
  const settings = { introspection: { turnLimit: 3 } };
  const turns = async (served: Served, from: number, count: number): Promise<void> => {
    for (let index = from; index < from + count; index++) await served.say(`m${index}`);
  };

  test('A7/81: is asked for with the turn that reaches it, each time', async () => {
    const served = await serve({ settings });
    await turns(served, 0, 2);
    expect(reasons(served)).toEqual([]);
    await turns(served, 2, 1);
    expect(reasons(served)).toEqual(['turn_limit']);
    await turns(served, 3, 6);
    expect(reasons(served)).toEqual(['turn_limit', 'turn_limit', 'turn_limit']);
    await served.clock.pass(3 * idleMs);
    expect(reasons(served)).toHaveLength(3);
  });

  test('A7/81: counts from the last checkpoint, whatever its reason', async () => {
    const served = await serve({ settings });
    await turns(served, 0, 2);
    await served.ask('checkpoint');
    await turns(served, 2, 2);
    expect(reasons(served)).toEqual(['manual']);
    await turns(served, 4, 1);
    expect(reasons(served)).toEqual(['manual', 'turn_limit']);
  });

  test('A7/81: a host that dies with the turn recorded and nothing asked for: the next one asks when it has the session', async () => {
    let appends = 0;
    const dying = withPorts(({ events }) => ({
      events: new Proxy(events, {
        get: (log, name) => {
          if (name === 'append')
            return (...given: Parameters<typeof log.append>) => (++appends > 3 ? never() : log.append(...given));
          const value: unknown = Reflect.get(log, name);
          return typeof value === 'function' ? value.bind(log) : value;
        },
      }),
    }));
    const served = await serve({ settings, portsOf: dying });
    await turns(served, 0, 3);
    expect(reasons(served)).toEqual([]);
    await served.crash({ portsOf: (ports) => ports });
    await served.host.recover(homeKey);
    await served.clock.pass(10);
    expect(reasons(served)).toEqual(['turn_limit']);
  });
});

test('A7/80: no checkpoint is requested where introspection is off', async () => {
  const served = await serve({ settings: { introspection: { enabled: false, turnLimit: 1 } } });
  await served.say('m1');
  await served.say('m2');
  await served.clock.pass(3 * idleMs);
  expect(reasons(served)).toEqual([]);
});
