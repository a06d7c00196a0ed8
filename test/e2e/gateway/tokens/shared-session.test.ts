import { describe, expect, test, vi } from 'vitest';
import { type Replicas, startReplicas, untilStatus } from '../access/token-rig.ts';
import { pathOf } from '../setup.ts';
import { connect } from '../websocket/websocket-client.ts';

/** Links to one session, which are tokens of the role `viewer` (B23). What each call answers them is in the table of the access matrix. */

const [shared, other] = ['agent:main:shared', 'agent:main:other'];
const say = ({ admin }: Replicas, key: string, text: string) =>
  admin('POST', pathOf(key, '/messages?wait=30'), { body: { text } });
const remove = ({ admin }: Replicas, key: string) => admin('DELETE', pathOf(key, '?mode=key'));
/** Replicas with both sessions, and a link to one. */
const startShared = async (gateway: object = {}) => {
  const replicas = await startReplicas(gateway);
  for (const key of [shared, other]) expect((await say(replicas, key, `words of ${key}`)).status).toBe(200);
  return { replicas, link: await replicas.make({ role: 'viewer', sessionKey: shared }) };
};
const openStream = async ({ urls }: Replicas, path: string): Promise<number> => {
  const controller = new AbortController();
  const { status } = await fetch(urls[0] + path, { headers: { accept: 'text/event-stream' }, signal: controller.signal });
  controller.abort();
  return status;
};

describe('a link to a session', () => {
  test('is a token, listed with its session, which a short name may say; the answer has where the page is', async () => {
    const { replicas, link } = await startShared({ publicUrl: 'https://natter.example.org' });
    expect(link).toMatchObject({ role: 'viewer', sessionKey: shared, publicUrl: 'https://natter.example.org' });
    expect(await replicas.make({ role: 'viewer', sessionKey: 'shared' })).toMatchObject({ sessionKey: shared });
    const { text, body } = await replicas.admin('GET', '/v1/tokens');
    expect(body.tokens).toHaveLength(2);
    for (const token of body.tokens) expect(token).toMatchObject({ role: 'viewer', sessionKey: shared, status: 'active' });
    expect(text).not.toContain('deletedSeq');
    const trail = (await replicas.admin('GET', '/v1/audit?kind=token_created')).body.records;
    expect(trail).toMatchObject(Array(2).fill({ detail: `role: viewer, sessionKey: ${shared}` }));
    const { body: me } = await replicas.as(link.token)('GET', '/v1/me');
    expect(me).toMatchObject({ role: 'viewer', sessionKey: shared, isPage: false });
  });

  test.each([
    ['to no session', { role: 'viewer' }, 400, 'sessionKey'],
    ['to one that is not there', { role: 'viewer', sessionKey: 'agent:main:nowhere' }, 404, 'key'],
    ['with a role that sees more', { role: 'read-only', sessionKey: shared }, 400, 'sessionKey'],
    ['for a person', { role: 'viewer', sessionKey: shared, principal: 'telegram:1' }, 400, 'principal'],
  ])('is not made %s', async (_, body, status, field) => {
    const { replicas } = await startShared();
    expect((await replicas.admin('POST', '/v1/tokens', { body })).body).toMatchObject({ status, field });
    expect((await replicas.admin('GET', '/v1/tokens')).body.tokens).toHaveLength(1);
  });

  test('opens no stream but that of its session, by no ticket', async () => {
    const { replicas, link } = await startShared();
    const ticketFor = async (path: string) =>
      (await replicas.as(link.token)('POST', '/v1/tickets', { body: { path } })).body.ticket;
    const paths = [pathOf(shared, '/events'), pathOf(other, '/events')] as const;
    expect(await openStream(replicas, `${paths[0]}?ticket=${await ticketFor(paths[0])}`)).toBe(200);
    expect(await openStream(replicas, `${paths[1]}?ticket=${await ticketFor(paths[1])}`)).toBe(404);
    expect(await openStream(replicas, `${paths[1]}?ticket=${await ticketFor(paths[0])}`)).toBe(401);
  });

  test('does not sign a page in, so that it cannot be multiplied', async () => {
    const { replicas, link } = await startShared();
    for (const body of [{}, { role: 'viewer' }, { role: 'read-only' }])
      expect((await replicas.as(link.token)('POST', '/v1/page/codes', { body })).status).toBe(403);
    expect((await replicas.admin('POST', '/v1/page/codes', { body: { role: 'viewer' } })).status).toBe(403);
  });

  test('ends with its streams and sockets when it is revoked, on every replica', async () => {
    const { replicas, link } = await startShared();
    await untilStatus(replicas.as(link.token, 1), 200);
    const stream = await replicas.stream(link.token, pathOf(shared, '/events'), 1);
    const socket = await connect(replicas.urls[0], link.token);
    expect((await socket.call('subscribe', { sessionKey: other })).ok).toBe(false);
    expect((await socket.call('subscribe', { sessionKey: shared })).ok).toBe(true);
    await replicas.admin('DELETE', `/v1/tokens/${link.id}`);
    await stream.ended;
    expect(stream.messages.at(-1)?.data).toContain('revoked');
    await socket.closed;
    for (const at of [0, 1] as const) expect((await replicas.as(link.token, at)('GET', pathOf(shared))).status).toBe(401);
  });

  test('is not to another session that is begun under the same key later; a new link is', async () => {
    const { replicas, link } = await startShared();
    const stream = await replicas.stream(link.token, pathOf(shared, '/events'));
    await remove(replicas, shared);
    const before = await replicas.as(link.token)('GET', pathOf(shared));
    await say(replicas, shared, 'a secret since');
    const paths = ['', '/messages', '/commits', '/commits/stored', '/events', '/state', '/diff?from=0'];
    for (const path of paths) {
      const { status, text } = await replicas.as(link.token)('GET', pathOf(shared, path));
      expect([path, status]).toEqual([path, 404]);
      expect(text).not.toContain('secret');
    }
    expect(before.status).toBe(404);
    const asked = ['/v1/sessions?status=all', '/v1/events?after=0', '/v1/search?q=secret'];
    for (const path of asked) expect((await replicas.as(link.token)('GET', path)).text).not.toContain('secret');
    const fresh = await replicas.make({ role: 'viewer', sessionKey: shared });
    await vi.waitFor(async () => {
      const { body } = await replicas.as(fresh.token)('GET', '/v1/sessions?status=all');
      expect(body.sessions.map(({ key }: { key: string }) => key)).toEqual([shared]);
    });
    const { text } = await replicas.as(fresh.token)('GET', pathOf(shared, '/messages'));
    expect([text.includes('a secret since'), text.includes('words of')]).toEqual([true, false]);
    expect(JSON.stringify(stream.messages)).not.toContain('secret');
  });

  test('outlives a reset: it is to the session, whatever its generation', async () => {
    const { replicas, link } = await startShared();
    await replicas.admin('POST', pathOf(shared, '/reset'), { body: {} });
    await say(replicas, shared, 'after the reset');
    const { status, text } = await replicas.as(link.token)('GET', pathOf(shared, '/messages'));
    expect([status, text.includes('after the reset')]).toEqual([200, true]);
  });
});
