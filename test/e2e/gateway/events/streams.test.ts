import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { keyOf } from '../../../support/domain/commits.ts';
import { rawClient } from '../messages/raw-client.ts';
import {
  afterwards,
  type Call,
  callerOf,
  openGateway,
  openStream,
  pathOf,
  ready,
  type Stream,
  startWorld,
  token,
} from '../setup.ts';

const key = 'agent:main:main';
const say = (call: Call, text: string, to = key) => call('POST', pathOf(to, '/messages?wait=5'), { body: { text } });
const idsOf = ({ messages }: Stream): (string | undefined)[] => messages.map(({ id }) => id);
/** Ids of all events there are, as the JSON pages tell them. */
const idsInLog = async (call: Call, path = '/v1/events'): Promise<string[]> =>
  (await call('GET', `${path}?limit=1000`)).body.events.map(({ id }: { id: string }) => id);

describe('event streams', () => {
  test('go from history to live without gap or repeat, with the event id as cursor', async () => {
    const { call, gateway } = await startWorld();
    await say(call, 'one');
    const stream = await openStream(gateway.url, '/v1/events?after=0');
    await say(call, 'two');
    await say(call, 'three', 'agent:main:other');
    const ids = await idsInLog(call);
    await vi.waitFor(() => expect(stream.messages).toHaveLength(ids.length));
    expect(idsOf(stream)).toEqual(ids);
    const [first] = stream.messages;
    expect(first).toMatchObject({ event: 'session_opened', id: '1.0' });
    expect(JSON.parse(first?.data ?? '')).toMatchObject({ id: '1.0', seq: 1, index: 0, rev: 1, key, type: 'session_opened' });
  });

  test('begin now unless told otherwise, also for a session that does not exist yet', async () => {
    const { call, gateway } = await startWorld();
    await say(call, 'before');
    const all = await openStream(gateway.url, '/v1/events');
    const future = await openStream(gateway.url, pathOf('agent:main:new', '/events'));
    await vi.waitFor(() => expect([...all.comments, ...future.comments]).toEqual(['after 2', 'after 2']));
    await say(call, 'hello', 'agent:main:new');
    await vi.waitFor(() => expect(idsOf(future).at(-1)).toBe('4.2'));
    await vi.waitFor(() => expect(idsOf(all)).toEqual(idsOf(future)));
    expect(idsOf(all)[0]).toBe('3.0');
  });

  test('resume on another replica in the middle of a commit, by Last-Event-ID or after', async () => {
    const { call, memory } = await startWorld();
    for (const text of ['one', 'two', 'three']) await say(call, text);
    const other = await openGateway(memory.portsFor('gateway-2'));
    await ready(callerOf(other.url));
    const expected = (await idsInLog(call)).filter((id) => Number(id) > 3.1);
    expect(expected[0]).toBe('4.0');
    for (const path of ['/v1/events', pathOf(key, '/events')]) {
      const byHeader = await openStream(other.url, `${path}?after=1`, { 'last-event-id': '3.1' });
      const byQuery = await openStream(other.url, `${path}?after=3.1`);
      await vi.waitFor(() =>
        expect([byHeader.messages.length, byQuery.messages.length]).toEqual([expected.length, expected.length]),
      );
      expect(idsOf(byHeader)).toEqual(expected);
      expect(idsOf(byQuery)).toEqual(expected);
    }
    const middle = await openStream(other.url, '/v1/events?after=2.0');
    await vi.waitFor(() => expect(idsOf(middle).slice(0, 2)).toEqual(['2.1', '2.2']));
  });

  test('a client that is cut off again and again, on two replicas, sees every event once while turns run', async () => {
    const { call, gateway, memory } = await startWorld();
    const other = await openGateway(memory.portsFor('gateway-2'));
    await ready(callerOf(other.url));
    const seen: string[] = [];
    let done = false;
    const reader = (async () => {
      for (let round = 0; !done || seen.at(-1) !== (await idsInLog(call)).at(-1); round++) {
        const cursor = seen.at(-1);
        const headers: Record<string, string> = cursor === undefined ? {} : { 'last-event-id': cursor };
        const stream = await openStream(round % 2 === 0 ? gateway.url : other.url, '/v1/events?after=0', headers);
        const news = await idsInLog(call);
        if (news.at(-1) !== cursor) await vi.waitFor(() => expect(stream.messages.length).toBeGreaterThan(0));
        seen.push(...idsOf(stream).map(String));
        stream.messages.length = 0;
        stream.close();
      }
    })();
    for (let turn = 0; turn < 15; turn++) await say(call, `message ${turn}`, `agent:main:s${turn % 3}`);
    done = true;
    await reader;
    expect(seen).toEqual(await idsInLog(call));
  });

  test('filter by type and by whole segments of the key', async () => {
    const { call, gateway } = await startWorld();
    const byType = await openStream(gateway.url, '/v1/events?after=0&type=assistant_message&type=turn_failed');
    const byKey = await openStream(gateway.url, '/v1/events?after=0&key=agent:main:irc');
    await say(call, 'fail', 'agent:main:irc:group:x');
    await say(call, 'two', 'agent:main:irccloud:group:x');
    await say(call, 'three', 'agent:main:irc');
    await vi.waitFor(() =>
      expect(byType.messages.map(({ event }) => event)).toEqual(['turn_failed', 'assistant_message', 'assistant_message']),
    );
    await vi.waitFor(() => expect(idsOf(byKey).at(-1)).toBe('6.2'));
    const keys = new Set(byKey.messages.map(({ data }) => JSON.parse(data).key));
    expect([...keys]).toEqual(['agent:main:irc:group:x', 'agent:main:irc']);
    const page = await call('GET', '/v1/events?type=assistant_message&key=agent:main:irc');
    expect(page.body).toMatchObject({ events: [{ id: '6.1', text: 'you said: three' }], next: '6', more: false });
  });

  test('interleave live text without an id, on request only', async () => {
    const { call, gateway } = await startWorld();
    const withText = await openStream(gateway.url, pathOf(key, '/events?deltas=1'));
    const without = await openStream(gateway.url, pathOf(key, '/events'));
    await vi.waitFor(() => expect(withText.comments).toHaveLength(1));
    await say(call, 'hello');
    await vi.waitFor(() => expect([idsOf(withText).at(-1), idsOf(without).at(-1)]).toEqual(['2.2', '2.2']));
    const deltas = withText.messages.filter(({ event }) => event === 'delta');
    expect(deltas).toMatchObject([{ id: undefined }]);
    expect(JSON.parse(deltas[0]?.data ?? '')).toMatchObject({ key, step: 1, offset: 0, text: 'you said: hello' });
    expect(without.messages.some(({ event }) => event === 'delta')).toBe(false);
  });

  test('end when the gateway stops, so that clients resume elsewhere', async () => {
    const { gateway } = await startWorld();
    const stream = await openStream(gateway.url, '/v1/events');
    const started = performance.now();
    await gateway.stop(10_000);
    await stream.ended;
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  /** The time a client may leave its buffer full, cut short. */
  const impatient: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms === limits.streamStallMs ? 150 : ms, signal),
  };

  test('a client that does not read the live text is closed too: it would hear no more of any', async () => {
    const { gateway, memory, call } = await startWorld({ clock: impatient });
    const ask = `host: x\r\naccept: text/event-stream\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const slow = rawClient(gateway.url, `GET ${pathOf(key, '/events?deltas=1')} HTTP/1.1\r\n${ask}`);
    afterwards(async () => void slow.socket.destroy());
    await vi.waitFor(() => expect(slow.heard()).toContain(': after'));
    slow.socket.pause();
    const { live } = memory.portsFor('speaker');
    const text = 'x'.repeat(200_000);
    for (let step = 1; step <= 40; step++) {
      live.publish(keyOf(key), { turn: { id: 'a turn', attempt: 1 }, step, offset: 0, text });
      await systemClock.sleep(0);
    }
    const open = async () => (await call('GET', '/metrics')).text;
    await vi.waitFor(async () => expect(await open()).toContain('natter_event_streams{service="gateway"} 0'));
  });

  test('a client that does not read is closed with its cursor, and nobody else notices (I11)', async () => {
    const { call, gateway } = await startWorld({ clock: impatient });
    const healthy = await openStream(gateway.url, '/v1/events?after=0');
    const { hostname, port } = new URL(gateway.url);
    const slow = connect(Number(port), hostname);
    afterwards(async () => void slow.destroy());
    slow.pause();
    slow.write(
      `GET /v1/events?after=0 HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    const text = 'x'.repeat(200_000);
    for (let turn = 0; turn < 25; turn++) await say(call, text);
    const ids = await idsInLog(call);
    await vi.waitFor(() => expect(healthy.messages).toHaveLength(ids.length));
    expect(idsOf(healthy)).toEqual(ids);
    await vi.waitFor(async () =>
      expect((await call('GET', '/metrics')).text).toContain('natter_event_streams{service="gateway"} 1'),
    );

    let received = '';
    slow.on('data', (chunk) => {
      received += chunk;
    });
    const closed = new Promise((resolve) => slow.on('close', resolve));
    slow.on('error', () => {});
    slow.resume();
    await closed;
    const last = [...received.matchAll(/\nid: (\d+\.\d+)\n/g)].at(-1)?.[1];
    expect(last).not.toBe(ids.at(-1));
    expect(ids).toContain(last);
  });
});
