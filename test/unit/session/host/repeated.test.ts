import { describe, expect, test } from 'vitest';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { homeKey, post, rig } from '../rig.ts';

/** A host that takes commands from these places of the queue, and how often it has asked for a session's last commit. */
const host = async () => {
  let asked = 0;
  const made = rig({
    portsOf: (ports) => ({
      ...ports,
      events: new Proxy(ports.events, {
        get: (log, name) => {
          const value: unknown = Reflect.get(log, name);
          if (name !== 'last') return typeof value === 'function' ? value.bind(log) : value;
          return (key: SessionKey) => {
            asked++;
            return log.last(key);
          };
        },
      }),
    }),
  });
  const take = async (id: string, seq: number, storedAt: number) => {
    const before = asked;
    const verdict = await made.host.handle({
      message: post('hello', id),
      seq,
      incarnation: 1,
      partition: 0,
      attempt: 1,
      storedAt,
    });
    await made.clock.pass(10);
    return { verdict: verdict.kind, asked: asked - before };
  };
  const answers = (): number => made.events(homeKey).filter(({ type }) => type === 'assistant_message').length;
  return { made, take, answers };
};

describe('a command whose place in the queue is behind (I2)', () => {
  test('is told to be a repeat without a question to the leader if it was stored before the last one that took effect', async () => {
    const { made, take, answers } = await host();
    const at = made.clock.now();
    for (const [index, id] of ['a', 'b', 'c'].entries()) await take(id, index + 1, at + index);
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      expect(await take(id, index + 1, at + index)).toEqual({ verdict: 'recorded', asked: 0 });
    }
    expect(answers()).toBe(3);
  });

  test('is asked about once after a load', async () => {
    const { made, take, answers } = await host();
    const at = made.clock.now();
    for (const [index, id] of ['a', 'b'].entries()) await take(id, index + 1, at + index);
    made.restart();
    await made.host.recover(homeKey);
    expect(await take('a', 1, at)).toMatchObject({ verdict: 'recorded', asked: 1 });
    expect(await take('b', 2, at + 1)).toMatchObject({ verdict: 'recorded', asked: 0 });
    expect(answers()).toBe(2);
  });

  test('takes effect if its place was given out again: it was stored after the last commit', async () => {
    const { made, take, answers } = await host();
    const at = made.clock.now();
    for (const [index, id] of ['a', 'b'].entries()) await take(id, index + 1, at + index);
    await made.clock.pass(60_000);
    expect(await take('new', 1, made.clock.now())).toMatchObject({ verdict: 'recorded' });
    expect(answers()).toBe(3);
  });
});
