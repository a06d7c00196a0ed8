import { describe, expect, test, vi } from 'vitest';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { type Call, openStream, pathOf, type Stream, startWorld, token, type World } from '../setup.ts';
import { knock, opened } from '../websocket/websocket-client.ts';

/** C9, issue 5: whoever keeps what they read hears from the gateway that history was erased, whatever they filter. */
const key = 'agent:main:main' as SessionKey;
const say = (call: Call, text: string, to: string = key) => call('POST', pathOf(to, '/messages?wait=5'), { body: { text } });

/** Erases the session, and gives the id of the event that tells of it. */
const erase = async ({ ports, memory }: World): Promise<string> => {
  const before = (await ports.events.last(key))?.seq ?? 0;
  await ports.commands.publish({
    ...{ v: 1, id: `erase-${before}`, key, at: 1, actor: 'operator', correlationId: 'erase', causationId: 'erase' },
    data: { type: 'delete_session', mode: 'erased', reason: 'asked' },
  });
  const last = await vi.waitFor(async () => {
    const { seq } = (await ports.events.last(key)) ?? { seq: 0 };
    expect(seq).toBeGreaterThan(before);
    return seq;
  });
  await memory.eraser.erase(key, last);
  return `${last}.0`;
};
const told = ({ messages }: Stream) => messages.map(({ event, id, data }) => [event, id, JSON.parse(data)]);

describe.each([
  ['all sessions', '/v1/events?'],
  ['one', `${pathOf(key, '/events')}?`],
])('of %s', (_, path) => {
  test('a client that comes back finds the gap in place of what it hides; without a filter in front of it', async () => {
    const world = await startWorld();
    await say(world.call, 'secret');
    const id = await erase(world);
    const gap = { type: 'gap', key, before: id };
    const hidden = await openStream(world.gateway.url, `${path}type=assistant_message&after=1`);
    await vi.waitFor(() => expect(told(hidden)).toEqual([['gap', id, gap]]));
    const whole = await openStream(world.gateway.url, `${path}after=1`);
    const seq = Number.parseInt(id, 10);
    await vi.waitFor(() => expect(told(whole)).toHaveLength(2));
    expect(told(whole)).toMatchObject([
      ['gap', `${seq - 1}`, gap],
      ['session_deleted', id, { mode: 'erased' }],
    ]);
    // It is told once: who has it goes on behind it.
    await say(world.call, 'after');
    const later = await openStream(world.gateway.url, `${path}type=user_message`, {
      'last-event-id': id,
    });
    await vi.waitFor(() => expect(told(later).map(([event]) => event)).toEqual(['user_message']));
    // Who lost the connection between the two gets both.
    const between = await openStream(world.gateway.url, path, { 'last-event-id': `${seq - 1}` });
    await vi.waitFor(() =>
      expect(
        told(between)
          .map(([event]) => event)
          .slice(0, 2),
      ).toEqual(['gap', 'session_deleted']),
    );
  });
});

test('live streams hear of it too, and those of other sessions do not', async () => {
  const world = await startWorld();
  await say(world.call, 'secret');
  const own = await openStream(world.gateway.url, '/v1/events?type=notice&key=agent:main:main');
  const other = await openStream(world.gateway.url, '/v1/events?key=agent:main:other');
  const id = await erase(world);
  await say(world.call, 'hello', 'agent:main:other');
  await vi.waitFor(() => expect(other.messages.length).toBeGreaterThan(0));
  expect(told(other).some(([event]) => event === 'gap')).toBe(false);
  expect(told(own)).toEqual([['gap', id, { type: 'gap', key, before: id }]]);
});

test('over a WebSocket the same', async () => {
  const world = await startWorld();
  await say(world.call, 'secret');
  const id = await erase(world);
  const client = knock(world.gateway.url, { authorization: `Bearer ${token}` });
  await opened(client);
  await client.call('subscribe', { sessionKey: key, types: ['notice'], after: '1' });
  expect(await client.next('event')).toMatchObject({ id, event: { type: 'gap', key, before: id } });
});
