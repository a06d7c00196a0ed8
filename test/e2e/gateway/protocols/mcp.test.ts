import { describe, expect, test, vi } from 'vitest';
import { openGateway } from '../access/access-rig.ts';
import { callerOf, openGateway as openReplica, ready, token } from '../setup.ts';
import { asked, clients, overHttp, overHttpBefore, use } from './mcp-rig.ts';

/** The MCP server (A10/100-122, A5/62), asked by the official clients. */

const parameters = {
  sessions_list: ['kinds', 'limit', 'activeMinutes', 'messageLimit'],
  sessions_history: ['sessionKey', 'limit', 'includeTools'],
  sessions_send: ['sessionKey', 'message', 'timeoutSeconds', 'attachments'],
  events_wait: ['after', 'sessionKey', 'types', 'timeoutSeconds'],
  approvals_list: ['limit', 'cursor'],
  approvals_respond: ['approvalId', 'decision', 'reason', 'sessionKey'],
};

describe.each(Object.entries(clients))('%s', (_, connect) => {
  test('A10/100-122, A5/62: finds the tools and uses each of them', async () => {
    const gateway = await openGateway();
    const client = await connect(gateway.url, token);
    const { tools } = await client.listTools();
    expect(Object.fromEntries(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]))).toEqual(
      parameters,
    );
    expect(client.getInstructions()).toContain('sessions');

    const sent = await use(client, 'sessions_send', { sessionKey: 'main', message: 'hello', timeoutSeconds: 10 });
    expect(sent).toEqual({ runId: expect.any(String), status: 'ok', reply: 'you said: hello' });
    const notAwaited = await use(client, 'sessions_send', { sessionKey: 'main', message: 'again', timeoutSeconds: 0 });
    expect(notAwaited).toEqual({ runId: expect.any(String), status: 'accepted' });
    const { events } = await use(client, 'events_wait', { after: '0', sessionKey: 'main', types: ['assistant_message'] });
    expect(events[0]).toMatchObject({ type: 'assistant_message', text: 'you said: hello' });
    const history = await vi.waitFor(async () => {
      const found = await use(client, 'sessions_history', { sessionKey: 'main', limit: 2 });
      expect(found.messages.at(-1).content[0].text).toBe('you said: again');
      return found;
    });
    expect(history).toMatchObject({ sessionKey: 'main', messages: [{ role: 'user' }, { role: 'assistant' }] });
    const list = () => use(client, 'sessions_list', { kinds: ['main'], limit: 100_000, messageLimit: 1 });
    await vi.waitFor(async () =>
      expect(await list()).toMatchObject({
        count: 1,
        sessions: [{ key: 'main', kind: 'main', messages: [{ role: 'assistant' }] }],
      }),
    );

    await asked(gateway, 'k3x9');
    await vi.waitFor(async () =>
      expect(await use(client, 'approvals_list')).toMatchObject({ approvals: [{ approvalId: 'k3x9', tool: 'exec' }] }),
    );
    const answer = { approvalId: 'k3x9', decision: 'deny', reason: 'not today' };
    expect(await use(client, 'approvals_respond', answer)).toMatchObject({ verdict: 'deny', outcome: 'accepted' });
    expect(await use(client, 'approvals_respond', answer)).toMatch(/^approval_resolved: /);
  });

  test('A10/100: what is wrong with a call is a result that names the part; a tool that is not there is an error of the protocol', async () => {
    const client = await connect((await openGateway()).url, token);
    expect(await use(client, 'sessions_send', { sessionKey: 'main' })).toMatch(/^invalid: message: /);
    expect(await use(client, 'sessions_list', { extra: 1 })).toBe(
      'invalid: extra: is not a known field; remove it or correct its name',
    );
    expect(await use(client, 'events_wait', { after: 'x' })).toMatch(/^invalid: after: /);
    expect(await use(client, 'events_wait', { types: ['nothing'] })).toMatch(/^invalid: types\.0: /);
    expect(await use(client, 'approvals_respond', { approvalId: 'x', decision: 'maybe' })).toMatch(/^invalid: decision: /);
    await expect(use(client, 'constructor')).rejects.toMatchObject({ code: -32602 });
  });

  test('a token that is not valid here connects nobody', async () => {
    const { url } = await openGateway();
    await expect(connect(url, 'wrong')).rejects.toThrow();
  });
});

describe.each([
  ['current', overHttp],
  ['previous', overHttpBefore],
] as const)('events_wait of the %s client', (_, connect) => {
  test('answers as soon as something happens, and goes on from there at another gateway without gap or repeat', async () => {
    const gateway = await openGateway();
    const replica = await openReplica(gateway.ports);
    await ready(callerOf(replica.url));
    const [here, there] = [await connect(gateway.url, token), await connect(replica.url, token)];
    const { next: from } = await use(here, 'events_wait', { timeoutSeconds: 0 });
    const waited = use(here, 'events_wait', { after: from, timeoutSeconds: 20 });
    for (const text of ['one', 'two', 'three']) await use(there, 'sessions_send', { sessionKey: 'main', message: text });
    const first = await waited;
    expect(first.events.length).toBeGreaterThan(0);

    const seen: string[] = first.events.map(({ id }: { id: string }) => id);
    let after: string = first.events[0].id;
    seen.splice(1);
    for (const client of [there, here, there]) {
      const { events, next } = await use(client, 'events_wait', { after, timeoutSeconds: 0 });
      seen.push(...events.map(({ id }: { id: string }) => id));
      after = next;
    }
    const page = await gateway.as.owner('GET', `/v1/events?after=${from}&limit=1000`);
    expect(seen).toEqual(page.body.events.map(({ id }: { id: string }) => id));
  });

  test('says nothing has happened when the time is up, with a cursor that has moved on', async () => {
    const gateway = await openGateway();
    const client = await connect(gateway.url, token);
    const { next } = await use(client, 'events_wait', { timeoutSeconds: 0 });
    const waited = use(client, 'events_wait', { after: next, types: ['session_reset'], timeoutSeconds: 0.5 });
    await use(client, 'sessions_send', { sessionKey: 'main', message: 'hello' });
    const { lastSeq } = await gateway.ports.events.info();
    const { events, next: later } = await waited;
    expect(events).toEqual([]);
    expect(Number(later)).toBeGreaterThan(Number(next));
    expect(Number(later)).toBeLessThanOrEqual(lastSeq);
  });
});
