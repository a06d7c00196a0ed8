import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, type StreamItem } from '../../../shared/client/main.ts';
import { afterwards, callerOf, openGateway, ready, startWorld, token } from '../gateway/setup.ts';
import { closedAfterwards, startBalancer } from './balancer.ts';

/** The client library against real gateways, alone and behind a balancer that takes connections from one to the other. */
const key = 'agent:main:main';
const start = async () => {
  const { gateway, memory, host } = await startWorld();
  const other = await openGateway(memory.portsFor('gateway-2'));
  await ready(callerOf(other.url));
  const balancer = await startBalancer([gateway.url, other.url]);
  const client = createClient({ url: balancer.url, token, WebSocket });
  return { balancer, client, host };
};
type Client = Awaited<ReturnType<typeof start>>['client'];
const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};
const idsInLog = async (client: Client): Promise<string[]> =>
  (await client.get<{ events: { id: string }[] }>('/v1/events?limit=1000')).events.map(({ id }) => id);
/** Ids of events as they are handed out. */
const collect = (items: AsyncIterable<StreamItem>): string[] => {
  const ids: string[] = [];
  void (async () => {
    for await (const item of items) if ('id' in item) ids.push(item.id);
  })();
  return ids;
};

describe('sessions, runs and approvals', () => {
  test('a session from its first message to its deletion', async () => {
    const { client } = await start();
    const { sessions } = client;
    expect(await sessions.open(key)).toMatchObject({ status: 'ok', outcome: 'accepted' });
    expect(await sessions.post(key, 'hello', { wait: 10 })).toMatchObject({ status: 'ok', reply: 'you said: hello' });
    expect(await sessions.append(key, { text: 'to remember', sender: { id: 'ann' } }, { wait: 10 })).toMatchObject({
      reply: null,
    });
    expect(await sessions.patch(key, { displayName: 'Mine' })).toMatchObject({ key, settings: { displayName: 'Mine' } });
    const session = await sessions.get('main');
    expect(session).toMatchObject({ key, messageCount: 3, settings: { displayName: 'Mine' } });
    // Lists come from the index, which follows the log.
    await vi.waitFor(async () => expect((await all(sessions.list())).map((row) => row.key)).toEqual([key]));
    expect((await all(sessions.messages(key))).map(({ role, text }) => [role, text])).toEqual([
      ['user', 'hello'],
      ['assistant', 'you said: hello'],
      ['user', 'to remember'],
    ]);
    const commits = await all(sessions.export(key));
    expect(commits.at(-1)?.seq).toBe(session.seq);
    expect((await all(sessions.export(key, { after: commits[0]?.seq })))[0]?.seq).toBe(commits[1]?.seq);
    expect(await sessions.state(key)).toMatchObject({ key, status: 'idle', position: { seq: session.seq } });
    expect(await sessions.state(key, { at: commits[0]?.seq })).toMatchObject({ context: { messages: 0 } });
    expect(await sessions.diff(key, { from: 0, limit: 1 })).toMatchObject({
      key,
      from: { seq: 0 },
      events: [{ id: '1.0' }],
      more: true,
    });
    await expect(sessions.reset(key, { ifMatch: 1 })).rejects.toMatchObject({ code: 'precondition_failed', status: 412 });
    expect(await sessions.reset(key, { ifMatch: session.seq, reason: 'tests' })).toMatchObject({ outcome: 'accepted' });
    expect(await sessions.stop(key)).toMatchObject({ outcome: 'nothing' });
    expect(await sessions.compact(key, { wait: 10 })).toHaveProperty('runId');
    expect(await sessions.delete(key, { mode: 'key' })).toMatchObject({ status: 'ok' });
    await expect(sessions.get(key)).rejects.toMatchObject({ name: 'NatterApiError', code: 'not_found', status: 404 });
    expect(await all(client.approvals.list())).toEqual([]);
    await expect(client.approvals.resolve('k3x9abcd', 'deny', { reason: 'no' })).rejects.toMatchObject({
      code: 'approval_unknown',
    });
  });

  test('A10/121: the same Idempotency-Key is the same run', async () => {
    const { client } = await start();
    const said = () => client.sessions.post(key, 'once', { idempotencyKey: 'm-1' });
    const [first, again] = [await said(), await said()];
    expect(again).toMatchObject({ runId: first.runId, duplicate: true });
    expect(await client.runs.wait(key, first.runId)).toMatchObject({ status: 'ok', reply: 'you said: once' });
    expect(await client.runs.get(key, first.runId)).toMatchObject({ status: 'ok' });
  });

  test('A10/122: a run is waited for on whichever replica there is, however often the connection is lost', async () => {
    const { client, balancer, host } = await start();
    host.hold();
    const { runId } = await client.sessions.post(key, 'still there?');
    const waiting = client.runs.wait(key, runId);
    for (let turn = 0; turn < 3; turn++) {
      const made = balancer.made();
      balancer.takeOver();
      await vi.waitFor(() => expect(balancer.made()).toBeGreaterThan(made));
    }
    await host.release();
    expect(await waiting).toEqual({ runId, status: 'ok', reply: 'you said: still there?' });
    expect(await client.runs.wait(key, runId, { timeoutMs: 0 })).toMatchObject({ status: 'ok' });
  });

  test('A10/120: who has waited long enough gets the run as it is', async () => {
    const { client, host } = await start();
    host.hold();
    const { runId } = await client.sessions.post(key, 'slow');
    expect(await client.runs.wait(key, runId, { timeoutMs: 100 })).toMatchObject({ runId, status: 'running' });
    await expect(client.runs.wait(key, runId, { signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  });
});

const untilTheEnd = (): AbortSignal => {
  const over = new AbortController();
  afterwards(() => over.abort());
  return over.signal;
};

/** The two ways to follow. */
const ways: [string, (client: Client, filter: object) => Promise<AsyncIterable<StreamItem>>][] = [
  ['SSE', async (client, filter) => client.events({ signal: untilTheEnd(), ...filter })],
  ['WebSocket', async (client, filter) => closedAfterwards(await client.connect()).subscribe(filter)],
];

describe.each(ways)('events by %s', (_, follow) => {
  test('go on without gap or repeat while connections are cut and replicas change', async () => {
    const { client, balancer } = await start();
    await client.sessions.post(key, 'before', { wait: 10 });
    const ids = collect(await follow(client, { after: 0 }));
    for (let turn = 0; turn < 8; turn++) {
      await client.sessions.post(`agent:main:s${turn % 3}`, `message ${turn}`);
      if (turn % 2 === 0) balancer.takeOver();
    }
    await vi.waitFor(async () => {
      const expected = await idsInLog(client);
      expect(expected.length).toBeGreaterThan(30);
      expect(ids).toEqual(expected);
    });
  });

  test('begin now, of one session, of some or of some types, with live text on request', async () => {
    const { client } = await start();
    await client.sessions.post(key, 'before', { wait: 10 });
    const seen: StreamItem[] = [];
    const enough = new AbortController();
    const live = await follow(client, { key, live: true, after: await lastOf(client), signal: enough.signal });
    const others = collect(await follow(client, { keyPrefix: 'agent:main:irc', types: ['assistant_message'], after: 0 }));
    const reading = (async () => {
      for await (const item of live) seen.push(item);
    })();
    await vi.waitFor(async () => {
      await client.sessions.post('agent:main:irc:group:x', 'elsewhere', { wait: 10 });
      await client.sessions.post(key, 'hello', { wait: 10 });
      expect(seen.some(({ type }) => type === 'delta')).toBe(true);
    });
    expect(seen.filter((item) => item.type !== 'gap' && item.key !== key)).toEqual([]);
    expect(seen.find((item) => item.type === 'delta')).toMatchObject({ key, step: 1, offset: 0, text: 'you said: hello' });
    await vi.waitFor(() => expect(others.length).toBeGreaterThan(0));
    enough.abort();
    await reading;
  });

  test('a cursor beyond the log is refused', async () => {
    const { client } = await start();
    const items = follow(client, { after: 99 }).then((stream) => all(stream));
    await expect(items).rejects.toMatchObject({ code: 'invalid' });
  });
});
const lastOf = async (client: Client): Promise<string> => (await idsInLog(client)).at(-1) ?? '0';
