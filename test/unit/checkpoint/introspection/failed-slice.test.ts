import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../../shared/domain/prompt/model-request.ts';
import type { EventOf } from '../../../../shared/domain/session/events.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { seenAt } from '../../../support/domain/commits.ts';
import { answerOf, failure, openRoom, rangesOf, reply, scripted } from './rig.ts';

const dm = 'agent:main:irc:dm:ann';
const reset = { type: 'reset', sessionId: 's2', cause: { trigger: 'command', rule: '/new', lastUpdateAt: 0 } } as const;
const failedRanges = (events: readonly EventOf<'introspection_failed'>[]): string[] =>
  events.map(({ fromRev, toRev }) => `${fromRev}-${toRev}`);
const isPoisoned = ({ prompt }: ModelRequest): boolean => prompt.includes('poison');
const long = (text: string): string => `${text} ${'x'.repeat(3_000)}`;

describe('A7/80: a slice that nobody can introspect', () => {
  test('is recorded as failed, the slices behind it go on, and so does what is said later', async () => {
    const room = await openRoom();
    for (let index = 0; index < 8; index++) await room.say(dm, long(index === 3 ? 'poison' : `message ${index}`));
    await room.askFor(dm);
    const { model } = scripted((request) => (isPoisoned(request) ? reply('no') : answerOf()), 12_000);
    await room.start(model);
    await room.settled();
    const [gap] = await room.eventsOf(dm, 'introspection_failed');
    const { fromRev = 0, toRev = 0 } = gap ?? {};
    expect(fromRev <= 4 && toRev >= 4 && toRev < 8, `${fromRev}-${toRev}`).toBe(true);
    const done = await room.eventsOf(dm, 'introspected');
    const revs = done.flatMap((event) => Array.from({ length: event.toRev - event.fromRev + 1 }, (_, by) => event.fromRev + by));
    expect(revs).toEqual([1, 2, 3, 4, 5, 6, 7, 8].filter((rev) => rev < fromRev || rev > toRev));

    await room.say(dm, 'more');
    await room.askFor(dm);
    await room.settled();
    expect(failedRanges(await room.eventsOf(dm, 'introspection_failed'))).toEqual([`${fromRev}-${toRev}`, `${fromRev}-${toRev}`]);
    expect((await room.eventsOf(dm, 'introspected')).at(-1)?.fromRev).toBe(9);
  });

  test('is introspected when a person asks again and the model answers by then, also after its generation has ended', async () => {
    const room = await openRoom();
    let isBroken = true;
    const { model, asked } = scripted(() => (isBroken ? failure('model_auth') : answerOf({ description: 'at last' })));
    const service = await room.start(model);
    await room.say(dm, 'of the old one');
    await room.send(dm, reset);
    await room.settled();
    expect(service.metrics()).toMatchObject({ introspection_failed_since_success: 1 });
    await room.say(dm, 'of the new one', 'ann', 's2');
    isBroken = false;
    await room.askFor(dm);
    await room.settled();
    const done = await room.eventsOf(dm, 'introspected');
    expect(done.map(({ sessionId, reason }) => [sessionId, reason])).toEqual([
      ['s1', 'manual'],
      ['s2', 'manual'],
    ]);
    expect(rangesOf(done)[0]).toBe('1-1');
    expect(service.metrics()).toMatchObject({ introspection_failed_since_success: 0 });
    expect(asked.map(({ prompt }) => prompt.includes('of the old one'))).toEqual([true, true, false]);
    expect(await room.askFor(dm)).toBe('nothing');
  });

  test('is tried again in the middle of what was introspected, and its neighbours are not', async () => {
    const room = await openRoom();
    let isBroken = true;
    const { model, asked } = scripted((request) => (isBroken && isPoisoned(request) ? reply('no') : answerOf()), 12_000);
    await room.start(model);
    for (const text of ['before', 'poison', 'after']) {
      await room.say(dm, text);
      await room.askFor(dm);
      await room.settled();
    }
    isBroken = false;
    asked.splice(0);
    await room.askFor(dm);
    await room.settled();
    const [gap] = await room.eventsOf(dm, 'introspection_failed');
    expect(asked.map(({ prompt }) => ['before', 'poison', 'after'].filter((text) => prompt.includes(`"${text}"`)))).toEqual([
      ['poison'],
    ]);
    const covered = rangesOf(await room.eventsOf(dm, 'introspected'));
    expect(covered).toContain(`${gap?.fromRev}-${gap?.toRev}`);
    expect(new Set(covered).size).toBe(covered.length);
  });

  test('a provider that is out of order for one slice has as many tries with the next', async () => {
    const room = await openRoom();
    for (let index = 0; index < 4; index++) await room.say(dm, long(`message ${index}`));
    await room.askFor(dm);
    const tries = new Map<string, number>();
    const { model } = scripted(({ prompt }) => {
      const count = (tries.get(prompt) ?? 0) + 1;
      tries.set(prompt, count);
      return count < limits.introspectionAttempts ? failure('model_rate_limited') : answerOf();
    }, 12_000);
    await room.start(model);
    await room.settled();
    expect(tries.size).toBeGreaterThan(1);
    expect(await room.eventsOf(dm, 'introspection_failed')).toEqual([]);
  });

  test('a provider that is away for good is waited for once, and asked once about each of the other slices: others wait behind them', async () => {
    const room = await openRoom();
    for (let index = 0; index < 4; index++) await room.say(dm, long(`message ${index}`));
    await room.askFor(dm);
    const { model, asked } = scripted(() => failure('model_unavailable'), 12_000);
    await room.start(model);
    await room.settled();
    const failed = await room.eventsOf(dm, 'introspection_failed');
    expect(failed.length).toBeGreaterThan(1);
    expect(failed.at(-1)?.toRev).toBe(4);
    expect(asked).toHaveLength(limits.introspectionAttempts + failed.length - 1);
  });

  test('takes effect once, whoever asks for it again: a request that comes twice is told of its failure', async () => {
    const room = await openRoom();
    const { model, asked } = scripted(() => failure('model_auth'));
    const first = await room.start(model);
    await room.say(dm, 'one');
    await room.askFor(dm);
    await room.settled();
    await first.stop(1_000);
    await room.ports.cursors.put('checkpoint-requests', seenAt(0));
    await room.start(model, 'two');
    await room.settled();
    expect(failedRanges(await room.eventsOf(dm, 'introspection_failed'))).toEqual(['1-1']);
    expect(asked).toHaveLength(1);
  });
});
