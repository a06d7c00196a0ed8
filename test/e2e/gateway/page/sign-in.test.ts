import { describe, expect, test, vi } from 'vitest';
import { movableClock, type Replicas, startReplicas } from '../access/token-rig.ts';
import { callerOf } from '../setup.ts';

/** How the page signs in: a one-time code, a token of its own, and its end (I12). */

const own = (url: string) => ({ origin: url });
const codeBy = async (replicas: Replicas, token?: string, body: object = {}): Promise<string> => {
  const call = token === undefined ? replicas.admin : replicas.as(token);
  const made = await call('POST', '/v1/page/codes', { body });
  expect(made.status, made.text).toBe(201);
  return made.body.code;
};
const logIn = ({ urls }: Replicas, code: string, at: 0 | 1 = 0, headers: Record<string, string> = own(urls[at])) =>
  callerOf(urls[at], null)('POST', '/v1/page/login', { body: { code }, headers });
const signedIn = async (replicas: Replicas, token?: string, body: object = {}): Promise<{ token: string; id: string }> => {
  const { status, body: made, text } = await logIn(replicas, await codeBy(replicas, token, body));
  expect(status, text).toBe(201);
  return made;
};

describe('a code', () => {
  test('signs in once, on any replica', async () => {
    const replicas = await startReplicas();
    for (const at of [0, 1] as const) {
      const code = await codeBy(replicas);
      expect(code).toMatch(/^natter_[\w-]{43}$/);
      const { status, body } = await logIn(replicas, code, at);
      expect([status, body.role, body.label, body.parent]).toEqual([201, 'admin', 'page', 'token:api']);
      for (const again of [0, 1] as const) expect((await logIn(replicas, code, again)).status).toBe(401);
    }
  });

  test('is for exactly one of a hundred who use it at once, on two replicas', async () => {
    const replicas = await startReplicas();
    const code = await codeBy(replicas);
    const all = await Promise.all(Array.from({ length: 100 }, (_, index) => logIn(replicas, code, (index % 2) as 0 | 1)));
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => ![201, 401, 429].includes(status))).toEqual([]);
  });

  test('is late after 60 s', async () => {
    const clock = movableClock();
    const replicas = await startReplicas({}, clock);
    const [early, late] = [await codeBy(replicas), await codeBy(replicas)];
    clock.advance(55_000);
    expect((await logIn(replicas, early)).status).toBe(201);
    clock.advance(6_000);
    expect((await logIn(replicas, late)).status).toBe(401);
  });

  test("is taken from the gateway's own page alone", async () => {
    const replicas = await startReplicas({ allowedOrigins: ['https://other.example.org'] });
    const code = await codeBy(replicas);
    const elsewhere: Record<string, string>[] = [
      {},
      { origin: 'https://other.example.org' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];
    for (const headers of elsewhere) expect((await logIn(replicas, code, 0, headers)).status, JSON.stringify(headers)).toBe(403);
    expect((await logIn(replicas, code)).status).toBe(201);
  });

  test('is no ticket, and a ticket is no code', async () => {
    const replicas = await startReplicas();
    const code = await codeBy(replicas);
    const stream = await fetch(`${replicas.urls[0]}/v1/events?ticket=${code}`, { headers: { accept: 'text/event-stream' } });
    expect(stream.status).toBe(401);
    const { ticket } = (await replicas.admin('POST', '/v1/tickets', { body: { path: '/v1/events' } })).body;
    expect((await logIn(replicas, ticket)).status).toBe(401);
  });

  test('ends with the token that asked for it', async () => {
    const replicas = await startReplicas();
    const { token, id } = await replicas.make({ role: 'read-only' });
    const code = await codeBy(replicas, token);
    await replicas.admin('DELETE', `/v1/tokens/${id}`);
    expect((await logIn(replicas, code)).status).toBe(401);
  });

  test('guesses from one address are soon told to wait', async () => {
    const replicas = await startReplicas();
    const guess = async () => (await logIn(replicas, `natter_${'x'.repeat(43)}`)).status;
    // More are let through while a slow machine makes them.
    let guesses = 1;
    for (; guesses < 600 && (await guess()) === 401; guesses++);
    expect(await guess()).toBe(429);
    expect(guesses).toBeGreaterThan(30);
  });
});

describe('the token of a page', () => {
  test('has the role of its parent or a lower one, never a higher', async () => {
    const replicas = await startReplicas();
    const roleOf = async (token: string): Promise<string> => (await replicas.as(token)('GET', '/v1/me')).body.role;
    for (const role of ['admin', 'owner', 'read-only', 'approver'])
      expect(await roleOf((await signedIn(replicas, undefined, { role })).token)).toBe(role);
    const { token: reader } = await replicas.make({ role: 'read-only' });
    const { token: ann } = await replicas.make({ role: 'participant', principal: 'telegram:1' });
    expect(await roleOf((await signedIn(replicas, reader)).token)).toBe('read-only');
    for (const [token, role] of [
      ...(['owner', 'approver', 'admin'] as const).map((higher) => [reader, higher] as const),
      ...(['owner', 'read-only', 'approver'] as const).map((other) => [ann, other] as const),
    ] as const)
      expect((await replicas.as(token)('POST', '/v1/page/codes', { body: { role } })).status, role).toBe(403);
    const page = await signedIn(replicas, ann);
    expect((await replicas.as(page.token)('GET', '/v1/me')).body).toMatchObject({ role: 'participant', principal: 'telegram:1' });
    expect((await replicas.as(page.token)('GET', '/v1/tokens')).status).toBe(403);
  });

  test('says in the log whose page it is', async () => {
    const replicas = await startReplicas();
    const actorOf = async ({ token }: { token: string }): Promise<string> =>
      (await replicas.as(token)('GET', '/v1/me')).body.actor;
    const { token: owner, id: name } = await replicas.make({ role: 'owner' });
    const [own, lower, other] = [
      await signedIn(replicas),
      await signedIn(replicas, undefined, { role: 'approver' }),
      await signedIn(replicas, owner),
    ];
    expect(await actorOf(own)).toBe(`token:page:owner:${own.id}`);
    expect(await actorOf(lower)).toBe(`token:page:approver:${lower.id}`);
    expect(await actorOf(other)).toBe(`token:page:${name}:${other.id}`);
  });

  test('is listed, lasts twelve hours, and signs no other page in', async () => {
    const clock = movableClock();
    const replicas = await startReplicas({}, clock);
    const { token, id } = await signedIn(replicas);
    const { tokens } = (await replicas.admin('GET', '/v1/tokens')).body;
    expect(tokens).toMatchObject([{ id, label: 'page', status: 'active', parent: 'token:api', createdBy: 'token:api' }]);
    expect(JSON.stringify(tokens)).not.toContain('sha256');
    expect((await replicas.as(token)('POST', '/v1/page/codes', { body: {} })).status).toBe(403);
    clock.advance(11.9 * 3_600_000);
    expect((await replicas.as(token)('GET', '/v1/me')).status).toBe(200);
    clock.advance(0.2 * 3_600_000);
    expect((await replicas.as(token)('GET', '/v1/me')).status).toBe(401);
  });

  test('ends with its parent, on every replica, with the streams that it opened', async () => {
    const replicas = await startReplicas();
    const parent = await replicas.make({ role: 'owner' });
    const page = await signedIn(replicas, parent.token);
    await vi.waitFor(async () => expect((await replicas.as(page.token, 1)('GET', '/v1/me')).status).toBe(200));
    const stream = await replicas.stream(page.token, '/v1/events', 1);
    expect(stream.status).toBe(200);
    await replicas.admin('DELETE', `/v1/tokens/${parent.id}`);
    await stream.ended;
    for (const at of [0, 1] as const) expect((await replicas.as(page.token, at)('GET', '/v1/me')).status).toBe(401);
  });

  test('ends when the secret of its parent is replaced', async () => {
    const replicas = await startReplicas();
    const parent = await replicas.make({ role: 'owner' });
    const page = await signedIn(replicas, parent.token);
    await replicas.admin('POST', `/v1/tokens/${parent.id}/rotate`);
    expect((await replicas.as(page.token)('GET', '/v1/me')).status).toBe(401);
  });

  test('is revoked by signing out; any other token is not', async () => {
    const replicas = await startReplicas();
    const reader = await signedIn(replicas, undefined, { role: 'read-only' });
    expect((await replicas.as(reader.token)('POST', '/v1/page/logout', { body: {} })).body).toEqual({
      id: reader.id,
      status: 'revoked',
    });
    expect((await replicas.as(reader.token)('GET', '/v1/me')).status).toBe(401);
    expect((await replicas.admin('POST', '/v1/page/logout', { body: {} })).status).toBe(400);
    expect((await replicas.admin('GET', '/v1/me')).body).toMatchObject({
      role: 'admin',
      isPage: false,
      mainKey: 'agent:main:main',
    });
  });

  test('neither it nor its code is in the audit trail', async () => {
    const replicas = await startReplicas();
    const code = await codeBy(replicas);
    const { token } = (await logIn(replicas, code)).body;
    const trail = (await replicas.admin('GET', '/v1/audit')).text;
    expect(trail).toContain('login_code_created');
    expect(trail).toContain('token_created');
    for (const secret of [code, token, code.slice(7), token.split('.')[1]]) expect(trail).not.toContain(secret);
  });
});
