import { describe, expect, test } from 'vitest';
import { type Door, type Name, names, secretOf, startDoor } from './access-rig.ts';
import { overHttp, use } from './mcp-rig.ts';
import { connect } from './websocket-client.ts';

/** What the matrix says of HTTP holds at the other doors too: WebSockets, MCP and OpenAI's interface (A5/67, A8/89-90). */

const there = 'agent:main:telegram:group:there';
const missing = 'agent:main:telegram:group:other';

/** Who takes part in the group, and whose role changes nothing: written down, not computed. */
const seeing: readonly Name[] = ['owner', 'second', 'admin', 'reader', 'ann', 'bob', 'telegram', 'annAtTelegram'];
const changesNothing: readonly Name[] = ['reader', 'approver', 'approverAtTelegram'];
const owning: readonly Name[] = ['owner', 'second', 'admin'];

/** What a caller hears of a session: `ok`, or a code, with the words that go with it. */
type Ask = (key: string) => Promise<{ code: string; words?: unknown }>;
type Opened = (door: Door, name: Name) => Promise<Ask>;

const byWebSocket =
  (method: string, params: object, name = 'sessionKey'): Opened =>
  async ({ url }, who) => {
    const client = await connect(url, secretOf(who));
    return async (key) => {
      const { ok, error } = await client.call(method, { ...params, [name]: key });
      return ok ? { code: 'ok' } : { code: error.code, words: [error.message, error.field] };
    };
  };
const byMcp =
  (tool: string, given: object): Opened =>
  async ({ url }, who) => {
    const client = await overHttp(url, secretOf(who));
    return async (sessionKey) => {
      const answer = await use(client, tool, { ...given, sessionKey });
      return typeof answer === 'string' ? { code: answer.split(':', 1)[0] ?? '', words: answer } : { code: 'ok' };
    };
  };
const byOpenAi =
  (path: string, bodyFor: (key: string) => object, inHeader: boolean): Opened =>
  async ({ as }, who) =>
  async (key) => {
    const headers: Record<string, string> = inHeader ? { 'x-natter-session': key } : {};
    const { status, body } = await as[who]('POST', path, { body: { model: 'natter', ...bodyFor(key) }, headers });
    return status === 200 ? { code: 'ok' } : { code: body.error.code, words: [status, body] };
  };
const messages = [{ role: 'user', content: 'hi' }];

const doors: readonly [name: string, kind: 'reads' | 'writes', opened: Opened][] = [
  ['chat.history by WebSocket', 'reads', byWebSocket('chat.history', {})],
  ['subscribe by WebSocket', 'reads', byWebSocket('subscribe', { after: '0', deltas: true })],
  ['chat.send by WebSocket', 'writes', byWebSocket('chat.send', { message: 'hi' })],
  ['agent by WebSocket', 'writes', byWebSocket('agent', { message: 'hi' })],
  ['sessions.patch by WebSocket', 'writes', byWebSocket('sessions.patch', { displayName: 'x' }, 'key')],
  ['sessions.compact by WebSocket', 'writes', byWebSocket('sessions.compact', {}, 'key')],
  ['sessions.checkpoint by WebSocket', 'writes', byWebSocket('sessions.checkpoint', {}, 'key')],
  ['sessions.fork by WebSocket', 'writes', byWebSocket('sessions.fork', {}, 'key')],
  ['sessions_history by MCP', 'reads', byMcp('sessions_history', {})],
  ['events_wait by MCP', 'reads', byMcp('events_wait', { after: '0', timeoutSeconds: 0 })],
  ['sessions_send by MCP', 'writes', byMcp('sessions_send', { message: 'hi', timeoutSeconds: 0 })],
  ['/v1/chat/completions', 'writes', byOpenAi('/v1/chat/completions', () => ({ messages }), true)],
  ['/v1/responses', 'writes', byOpenAi('/v1/responses', (conversation) => ({ input: 'hi', conversation }), false)],
];
/** Where who sees all may begin what is not there, or wait for it. */
const begins = ['subscribe', 'chat.send', 'agent ', 'events_wait', 'sessions_send', '/v1/'];

describe('other doors', () => {
  test.each(doors)('A8/89-90: %s', async (what, kind, opened) => {
    const door = await startDoor();
    await door.said(there, ['telegram:1', 'telegram:2']);
    const wrong: object[] = [];
    const mayBegin = begins.some((start) => what.startsWith(start));
    for (const name of names) {
      const ask = await opened(door, name);
      const none = await ask(`${missing}-${name}`);
      const some = await ask(there);
      const isRuledOut = kind === 'writes' && changesNothing.includes(name);
      const expected = isRuledOut ? 'forbidden' : seeing.includes(name) ? 'ok' : 'not_found';
      const seesAll = [...owning, 'reader'].includes(name);
      const ofNone = isRuledOut ? 'forbidden' : seesAll && mayBegin ? 'ok' : 'not_found';
      const isHidden = expected === 'not_found';
      const same = JSON.stringify(some.words) === JSON.stringify(none.words);
      if (some.code !== expected || none.code !== ofNone || (isHidden && !same))
        wrong.push({ name, expected, some, ofNone, none });
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ['by HTTP', async ({ as }: Door, name: Name) => (await as[name]('GET', '/v1/events')).body.events],
    [
      'by MCP',
      async ({ url }: Door, name: Name) =>
        (await use(await overHttp(url, secretOf(name)), 'events_wait', { after: '0', timeoutSeconds: 0 })).events,
    ],
    [
      'by WebSocket',
      async ({ url, said }: Door, name: Name) => {
        const client = await connect(url, secretOf(name));
        await client.call('subscribe', { after: '0' });
        await said('agent:main:open:group:all', ['telegram:1', 'telegram:2', 'telegram:9'], name);
        // Who sees any event has seen those before it by then.
        await (seeing.includes(name) || name === 'eve' ? client.next('event') : client.call('status'));
        return client.frames.filter(({ type }) => type === 'event').map(({ event }) => event);
      },
    ],
  ])('A8/89: among all events %s are those of the group for whom it is, and for nobody else', async (_, eventsOf) => {
    const door = await startDoor();
    await door.said(there, ['telegram:1', 'telegram:2']);
    for (const name of names) {
      const keys = ((await eventsOf(door, name)) as { key: string }[]).map(({ key }) => key);
      expect({ name, sees: keys.includes(there) }).toEqual({ name, sees: seeing.includes(name) });
    }
  });
});
