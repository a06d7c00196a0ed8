import { describe, expect, test, vi } from 'vitest';
import { pathOf, type Stream } from '../setup.ts';
import { configOf, type Name, openGateway } from './access-rig.ts';

const ofAnn = 'agent:main:telegram:default:dm:1';
const ofBoth = 'agent:main:telegram:group:g';
const ofBob = 'agent:main:discord:group:b';
const ofOthers = 'agent:main:telegramx:group:g';
const all = [ofAnn, ofBoth, ofBob, ofOthers];

const seen: Readonly<Record<Name, readonly string[]>> = {
  owner: all,
  second: all,
  ann: [ofAnn, ofBoth],
  bob: [ofBoth, ofBob],
  eve: [],
  telegram: [ofAnn, ofBoth],
  discord: [ofBob],
  telegramGroups: [ofBoth],
  annAtTelegram: [ofAnn, ofBoth],
  admin: all,
  reader: all,
  approver: [],
  approverAtTelegram: [],
  approverOfGroups: [],
  viewer: [],
  viewerOfGone: [],
};
const everybody = Object.entries(seen) as [Name, readonly string[]][];

const startFilled = async (options: Parameters<typeof openGateway>[0] = {}) => {
  const gateway = await openGateway(options);
  await gateway.said(ofAnn, ['telegram:1']);
  await gateway.said(ofBoth, ['telegram:1', 'telegram:2']);
  await gateway.said(ofBob, ['discord:2']);
  await gateway.said(ofOthers, ['telegramx:1']);
  return gateway;
};
const keysIn = (events: readonly { key: string }[]): string[] => [...new Set(events.map(({ key }) => key))].sort();
const keysOf = ({ messages }: Stream): string[] => keysIn(messages.map(({ data }) => JSON.parse(data)));

describe('what is listed is what may be seen', () => {
  test('A8/89-90: GET /v1/sessions, page by page', async () => {
    const { as } = await startFilled();
    await vi.waitFor(async () => expect((await as.owner('GET', '/v1/sessions')).body.sessions).toHaveLength(all.length));
    for (const [name, keys] of everybody) {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await as[name]('GET', `/v1/sessions?limit=1&status=all${cursor}`);
        found.push(...body.sessions.map(({ key }: { key: string }) => key));
        if (body.nextCursor === null) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
      expect({ name, found: found.sort() }).toEqual({ name, found: [...keys].sort() });
    }
  });

  test.each([true, false])('A8/89-90: GET /v1/events as pages and as a stream (index kept up: %s)', async (index) => {
    const { as, stream } = await startFilled({ index });
    for (const [name, keys] of everybody) {
      const { events } = (await as[name]('GET', '/v1/events')).body;
      expect({ name, found: keysIn(events) }).toEqual({ name, found: [...keys].sort() });
      const { events: some } = (await as[name]('GET', `/v1/events?key=${encodeURIComponent('agent:main:telegram')}`)).body;
      expect(keysIn(some)).toEqual(keys.filter((key) => key.startsWith('agent:main:telegram:')).sort());
      const opened = await stream(name, '/v1/events?after=0');
      await vi.waitFor(() => expect(keysOf(opened)).toEqual([...keys].sort()));
      opened.close();
    }
  });
});

describe('streams while things change', () => {
  test('A8/89: whoever joins sees from then on, whoever never did sees nothing', async () => {
    const { as, stream, said } = await startFilled();
    const streams = { bob: await stream('bob', '/v1/events'), eve: await stream('eve', '/v1/events') };
    const owner = await stream('owner', '/v1/events');
    await said(ofAnn, ['telegram:1']);
    await vi.waitFor(() => expect(owner.messages).toHaveLength(1));
    await said(ofAnn, ['telegram:2']);
    await said(ofAnn, ['telegram:1']);
    await vi.waitFor(() => expect(owner.messages).toHaveLength(3));
    await vi.waitFor(() => expect(streams.bob.messages).toHaveLength(2));
    await said(ofBoth, ['telegram:9']);
    await vi.waitFor(() => expect(keysOf(streams.eve)).toEqual([ofBoth]));
    expect(keysOf(streams.bob)).toEqual([ofBoth, ofAnn].sort());
    expect((await as.bob('GET', pathOf(ofAnn, '/messages'))).body.messages).toHaveLength(4);
  });

  test('A8/87, 89: a stream ends with the session; who begins it anew is not followed by those of before', async () => {
    const { as, stream, said, done } = await startFilled();
    const key = ofBoth;
    const own = await stream('ann', pathOf(key, '/events'));
    const everything = await stream('ann', '/v1/events');
    const channel = await stream('telegram', '/v1/events');
    await said(key, ['telegram:1']);
    for (const opened of [own, everything, channel]) await vi.waitFor(() => expect(opened.messages).toHaveLength(1));
    await done(key, { type: 'delete_session', mode: 'key', reason: 'test' });
    await said(key, ['telegram:2']);
    await own.ended;
    expect(own.messages.map(({ event }) => event)).toEqual(['user_message', 'error']);
    expect(JSON.parse(own.messages[1]?.data ?? '')).toMatchObject({ code: 'not_found' });
    await vi.waitFor(() => expect(channel.messages).toHaveLength(3));
    expect(everything.messages.map(({ event }) => event)).toEqual(['user_message']);
    expect((await as.ann('GET', pathOf(key, '/messages'))).status).toBe(404);
  });

  test('A5/66: who is linked while the stream is open is the same person at once', async () => {
    let config = configOf();
    const { as, stream, said } = await startFilled({ current: { current: () => config } });
    const opened = await stream('eve', '/v1/events');
    expect((await as.eve('GET', pathOf(ofAnn))).status).toBe(404);
    config = configOf({ identityLinks: { eve: ['telegram:9', 'telegram:1'] } });
    expect((await as.eve('GET', pathOf(ofAnn))).status).toBe(200);
    await said(ofAnn, ['telegram:1']);
    await vi.waitFor(() => expect(opened.messages).toHaveLength(1));
    config = configOf();
    expect((await as.eve('GET', pathOf(ofAnn))).status).toBe(404);
  });

  test('A8/89: text in the making is not for those who wait at a session that is not theirs', async () => {
    const key = 'agent:main:telegram:default:dm:9';
    const { stream, as, host, hostPorts, said } = await openGateway();
    const waiting = await stream('eve', pathOf(key, '/events?deltas=1'));
    const owner = await stream('owner', pathOf(key, '/events?deltas=1'));
    const kinds = ({ messages }: Stream) => messages.map(({ event }) => event);
    // Text can be here before the commit that its turn began with.
    hostPorts.live.publish(key as never, { turn: { id: 'turn', attempt: 1 }, step: 1, offset: 0, text: 'not for eve' });
    await vi.waitFor(() => expect(kinds(owner)).toEqual(['delta']));
    await said(key, ['telegram:9']);
    await vi.waitFor(() => expect(kinds(waiting)).toEqual(['session_opened', 'user_message']));
    host.hold();
    await as.eve('POST', pathOf(key, '/messages'), { body: { text: 'for eve' } });
    await vi.waitFor(() => expect(kinds(waiting)).toContain('turn_started'));
    await host.release();
    await vi.waitFor(() => expect(kinds(waiting)).toContain('delta'));
  });

  test('A8/89: a session that somebody else begins ends the stream of who waited for it', async () => {
    const key = 'agent:main:telegram:default:dm:9';
    const { stream, said } = await openGateway();
    const waiting = await stream('eve', pathOf(key, '/events?deltas=1'));
    await said(key, ['telegram:1']);
    await waiting.ended;
    expect(waiting.messages.map(({ event }) => event)).toEqual(['error']);
  });

  test('A8/89: a participant gets the text of its own turns', async () => {
    const { stream, as, host } = await startFilled();
    const opened = await stream('ann', pathOf(ofAnn, '/events?deltas=1'));
    host.hold();
    await as.ann('POST', pathOf(ofAnn, '/messages'), { body: { text: 'hello' } });
    await vi.waitFor(() => expect(opened.messages.map(({ event }) => event)).toContain('turn_started'));
    await host.release();
    await vi.waitFor(() => expect(opened.messages.map(({ event }) => event)).toContain('delta'));
  });
});
