import { describe, expect, test } from 'vitest';
import type { InspectionEvent } from 'xstate';
import type { AppendResult } from '../../../../shared/ports/event-log.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, keyOf, post, type Rig, rig } from '../rig.ts';
import { script } from '../script.ts';

/** Collects what XState reports of a host's live actors: the events that each receives, and the states that it goes through. */
const inspector = () => {
  const actors = new Map<unknown, { id: string; received: string[]; states: string[] }>();
  const inspect = (event: InspectionEvent): void => {
    const { actorRef } = event;
    const known = actors.get(actorRef) ?? { id: 'id' in actorRef ? String(actorRef.id) : '', received: [], states: [] };
    actors.set(actorRef, known);
    if (event.type === '@xstate.event' && !event.event.type.startsWith('xstate.')) known.received.push(event.event.type);
    const state = event.type === '@xstate.snapshot' && 'value' in event.snapshot ? String(event.snapshot.value) : undefined;
    if (state !== undefined && state !== known.states.at(-1)) known.states.push(state);
  };
  const of = (id: string) => [...actors.values()].filter((actor) => actor.id === id);
  return { inspect, of };
};

/** The ports with other ways to append a commit. */
const appending =
  (append: (ports: Ports, ...given: Parameters<Ports['events']['append']>) => Promise<AppendResult>) =>
  (ports: Ports): Ports => ({
    ...ports,
    events: new Proxy(ports.events, {
      get: (events, name) => {
        const value: unknown = name === 'append' ? append.bind(null, ports) : Reflect.get(events, name);
        return typeof value === 'function' ? value.bind(events) : value;
      },
    }),
  });

const recorded = (made: Rig, key = homeKey): string[] => made.events(key).map(({ type }) => type);

/** A model that answers each message in one step, and notes which steps it was asked for. */
const noting = (steps: string[]) => (): Model => ({
  ...script([]),
  step: async ({ turn, step }) => {
    steps.push(`${turn.id}/${turn.attempt} ${step}`);
    return { kind: 'reply', text: 'yes', model: 'noting', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
  },
});

describe('a session in memory is one live actor (ADR 14)', () => {
  test('is loaded into the state that the log left it in', async () => {
    const { inspect, of } = inspector();
    const made = rig();
    await made.take('post a');
    made.restart({ inspect });
    await made.host.recover(homeKey);
    expect(of(homeKey).map(({ received, states }) => ({ received, states }))).toEqual([{ received: [], states: ['idle'] }]);
    expect(made.host.residents).toBe(1);
  });

  test('stays the same actor over turns, and goes through running even in a turn that is one commit (ADR 3)', async () => {
    const { inspect, of } = inspector();
    const made = rig({ inspect });
    for (const id of ['a', 'b']) await made.take(`post ${id}`);
    expect(made.system.events.stored()).toHaveLength(2);
    const [live, ...others] = of(homeKey);
    expect(others).toEqual([]);
    expect(live?.received).toEqual(recorded(made));
    expect(live?.states).toEqual(['inactive', 'idle', 'running', 'idle', 'running', 'idle']);
    expect(made.host.turns.running).toBe(0);
    expect(of('turn')).toEqual([]);
  });

  test('shares one XState system with the other sessions of its host, and leaves it with its session', async () => {
    const roots = new Set<string>();
    const stopped: string[] = [];
    const made = rig({
      inspect: ({ rootId, actorRef, ...event }) => {
        roots.add(rootId);
        const isStopped = event.type === '@xstate.snapshot' && event.snapshot.status === 'stopped';
        if (isStopped && 'id' in actorRef && actorRef.id !== 'turn') stopped.push(String(actorRef.id));
      },
    });
    const keys = [homeKey, keyOf('other')];
    for (const key of keys) await made.take('post a', key);
    expect(roots.size).toBe(1);
    made.host.lose((key) => key === homeKey);
    expect(stopped).toEqual([homeKey]);
    await made.take('post b', keys[1]);
    expect(made.host.residents).toBe(1);
  });

  test('receives the recorded events of a turn with calls in their order, and its turn starts once for each attempt', async () => {
    const { inspect, of } = inspector();
    const tools = () => fakeTools({ name: 'look' }, { name: 'mail', usual: 'ask' });
    const made = rig({ inspect, tools, model: () => script([['look', 'mail'], 'done']) });
    await made.take(post('go', 'a'));
    await made.clock.pass(1_000);
    await made.take('stop');
    await made.clock.pass(1_000);
    expect(recorded(made)).toContain('approval_requested');
    expect(of(homeKey).map(({ received }) => received)).toEqual([recorded(made)]);
    expect(of('turn').map(({ received }) => received)).toEqual([['start_turn']]);
  });

  test('receives nothing of a commit that is refused', async () => {
    const { inspect, of } = inspector();
    let refuses = false;
    const made = rig({
      inspect,
      portsOf: appending(async ({ events }, ...given) =>
        refuses ? { kind: 'refused', message: 'too large' } : events.append(...given),
      ),
    });
    await made.take('append a');
    refuses = true;
    await made.take('post b');
    expect(made.host.counts).toMatchObject({ commits: 1, refused: 1 });
    expect(of(homeKey).map(({ received }) => received)).toEqual([recorded(made)]);
  });

  test('receives nothing of a commit that is fenced; the next actor of the session starts where the log ends', async () => {
    const { inspect, of } = inspector();
    const made = rig({ inspect });
    const first = made.host;
    await made.take('append a');
    const receivedBefore = recorded(made);
    made.restart({ inspect: undefined });
    await made.take('append b');
    made.host = first;
    await made.take('append c');
    expect(first.counts).toMatchObject({ commits: 2, fenced: 1, loads: 2 });
    expect(of(homeKey).map(({ received }) => received)).toEqual([receivedBefore, recorded(made).slice(-1)]);
  });

  test('starts no turn when it is restored in the middle of one: only a recorded resume does (I6, B16)', async () => {
    const steps: string[] = [];
    const made = rig();
    await made.take(post('[[think 60000]]', 'a'));
    made.host.close();
    const { inspect, of } = inspector();
    const silent = appending(async () => ({ kind: 'unknown', cause: 'no answer' }));
    made.restart({ inspect, model: noting(steps), portsOf: silent });
    await made.host.recover(homeKey);
    await made.clock.pass(1_000);
    expect(of(homeKey).map(({ received, states }) => ({ received, states }))).toEqual([{ received: [], states: ['running'] }]);
    expect([steps, of('turn')]).toEqual([[], []]);
    made.restart({ inspect, model: noting(steps), portsOf: (ports) => ports });
    await made.host.recover(homeKey);
    await made.clock.pass(1_000);
    expect(steps).toEqual(['a/2 1']);
    expect(recorded(made).at(-1)).toBe('turn_completed');
  });

  test('takes no other session with it when it fails, and is loaded again', async () => {
    const { inspect, of } = inspector();
    let failing = false;
    const failsOnce = (ports: Ports): Ports => ({
      ...appending(async ({ events }, commit, expectedSeq) => {
        const result = await events.append(commit, expectedSeq);
        failing = commit.events.some((event) => event.type === 'user_message' && event.message.messageId === 'bad');
        return result;
      })(ports),
      clock: new Proxy(ports.clock, {
        get: (clock, name) => {
          const value: unknown = Reflect.get(clock, name);
          if (name !== 'monotonic') return typeof value === 'function' ? value.bind(clock) : value;
          return () => {
            if (!failing) return clock.monotonic();
            failing = false;
            throw new Error('the clock broke as the turn started');
          };
        },
      }),
    });
    const steps: string[] = [];
    const made = rig({ inspect, model: noting(steps), portsOf: failsOnce });
    await made.take('post good', keyOf('other'));
    expect(await made.take(post('hello', 'bad'))).toEqual({ kind: 'recorded' });
    expect(made.host.residents).toBe(1);
    await made.take('append next');
    await made.clock.pass(1_000);
    expect(of(homeKey)).toHaveLength(2);
    expect(steps).toEqual(['good/1 1', 'bad/2 1']);
    expect(recorded(made).at(-1)).toBe('turn_completed');
  });
});
