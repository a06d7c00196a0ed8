import { describe, expect, test, vi } from 'vitest';
import type { Config } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { Current } from '../../../../shared/runtime/config/reload.ts';
import { token as own, pathOf } from '../setup.ts';
import { configOf, openGateway } from './access-rig.ts';
import { movableClock, startReplicas, untilStatus } from './token-rig.ts';

/** Tokens made while the system runs (I12). */

const day = 86_400_000;

describe('a token made at run time', () => {
  test('is told once, is kept as a digest, and lets its role in on every replica', async () => {
    const { make, as, admin, memory } = await startReplicas();
    const made = await make({ role: 'read-only', label: 'a dashboard' });
    expect(made).toMatchObject({ role: 'read-only', label: 'a dashboard', status: 'active', createdBy: 'token:api' });
    expect(made.token).toMatch(/^[a-z0-9]{12}\.natter_[\w-]{43}$/);
    expect(made.token.startsWith(`${made.id}.`)).toBe(true);
    expect((await as(made.token)('GET', '/v1/sessions')).status).toBe(200);
    await untilStatus(as(made.token, 1), 200);
    const { text, body } = await admin('GET', '/v1/tokens');
    const { token: _, ...shown } = made;
    expect(body).toEqual({ tokens: [shown] });
    // It may have the sign itself.
    const secret = made.token.slice(made.token.indexOf('_') + 1);
    const { entries } = await memory.buckets.tokens.changes('token', 0, 100);
    const stored = Buffer.concat(entries.map(({ value }) => value ?? new Uint8Array())).toString('latin1');
    expect(stored).toContain(made.id);
    for (const kept of [text, stored]) expect(kept.includes(secret) || kept.includes(made.token)).toBe(false);
  });

  const wrong: readonly [what: string, body: object, field: string][] = [
    ['a role that is none', { role: 'god' }, 'role'],
    ['a participant who is nobody', { role: 'participant' }, 'principal'],
    ['a stranger', { role: 'participant', principal: 'zoe' }, 'principal'],
    ['a limited owner', { role: 'admin', namespace: 'irc' }, 'namespace'],
    ['a channel of all', { role: 'channel' }, 'namespace'],
    ['a pattern', { role: 'approver', namespace: 'tele*' }, 'namespace'],
    ['one that has expired', { role: 'owner', expiresAt: 1 }, 'expiresAt'],
    ['a secret of somebody', { role: 'owner', secret: 'mine' }, 'secret'],
  ];
  test.each(wrong)('is not made for %s', async (_, body, field) => {
    const { admin } = await startReplicas();
    expect((await admin('POST', '/v1/tokens', { body })).body).toMatchObject({ status: 400, code: 'invalid', field });
    expect((await admin('GET', '/v1/tokens')).body.tokens).toEqual([]);
  });

  test('a wrong secret, another id and no such id are one answer', async () => {
    const { make, as } = await startReplicas();
    const [one, other] = [await make({ role: 'owner' }), await make({ role: 'owner' })];
    const secretOf = ({ token }: { token: string }) => token.split('.')[1] as string;
    const wrongOnes = [
      `${one.id}.${secretOf(other)}`,
      `${other.id}.${secretOf(one)}`,
      `aaaaaaaaaaaa.${secretOf(one)}`,
      `${one.token.slice(0, -1)}${one.token.endsWith('A') ? 'B' : 'A'}`,
      secretOf(one),
      one.id,
      `${one.token}x`,
    ];
    for (const bearer of wrongOnes) {
      const { status, body } = await as(bearer)('GET', '/v1/sessions');
      expect([bearer, status, body.detail]).toEqual([bearer, 401, 'this token is not valid here']);
    }
  });

  test('ends by itself, on its open streams too', async () => {
    const clock = movableClock();
    const { make, as, stream, admin } = await startReplicas({}, clock);
    const { token } = await make({ role: 'owner', expiresAt: clock.now() + day });
    const open = await stream(token, '/v1/events');
    clock.advance(day - 60_000);
    expect((await as(token)('GET', '/v1/sessions')).status).toBe(200);
    clock.advance(120_000);
    await open.ended;
    expect(JSON.parse(open.messages.at(-1)?.data ?? '')).toMatchObject({
      code: 'unauthorized',
      detail: 'this token has expired',
    });
    expect((await as(token)('GET', '/v1/sessions')).body.detail).toBe('this token has expired');
    expect((await admin('GET', '/v1/tokens')).body.tokens).toMatchObject([{ status: 'expired' }]);
    clock.advance(31 * day);
    expect((await admin('GET', '/v1/tokens')).body.tokens).toEqual([]);
  });
});

describe('revocation', () => {
  test('ends calls, open streams and waiting calls on both replicas within 5 s, and says why', async () => {
    const { make, as, stream, admin, host } = await startReplicas();
    const { token, id } = await make({ role: 'owner' });
    await untilStatus(as(token, 1), 200);
    host.hold();
    const streams = [await stream(token, '/v1/events', 0), await stream(token, '/v1/events', 1)];
    const waits = ([0, 1] as const).map((at) =>
      as(token, at)('POST', pathOf(`agent:main:main-${at}`, '/messages?wait=60'), { body: { text: 'hi' } }),
    );
    await vi.waitFor(() => expect(host.state('agent:main:main-1' as SessionKey).machine.value).toBe('running'));
    const others = await stream(own, '/v1/events', 1);
    const began = performance.now();
    expect((await admin('DELETE', `/v1/tokens/${id}`)).body).toMatchObject({ id, status: 'revoked' });
    expect((await as(token)('GET', '/v1/sessions')).status).toBe(401);
    for (const { ended, messages } of streams) {
      await ended;
      expect(messages.at(-1)?.event).toBe('error');
      const last = { code: 'unauthorized', detail: 'this token was revoked', after: expect.any(String) };
      expect(JSON.parse(messages.at(-1)?.data ?? '')).toEqual(last);
    }
    for (const wait of waits) expect((await wait).body).toMatchObject({ status: 401, detail: 'this token was revoked' });
    expect(performance.now() - began).toBeLessThan(5_000);
    // What they had begun goes on without them (A10/122).
    expect(host.state('agent:main:main-1' as SessionKey).machine.value).toBe('running');
    expect((await as(token, 1)('GET', '/v1/sessions')).body.detail).toBe('this token was revoked');
    expect(others.messages).toEqual([]);
  });

  test('revoked twice, and what is not there', async () => {
    const { make, admin } = await startReplicas();
    const { id } = await make({ role: 'owner' });
    const [first, second] = [await admin('DELETE', `/v1/tokens/${id}`), await admin('DELETE', `/v1/tokens/${id}`)];
    expect([second.status, second.body.revokedAt]).toEqual([200, first.body.revokedAt]);
    for (const other of ['nothing', '..%2fticket', '%00'])
      expect((await admin('DELETE', `/v1/tokens/${other}`)).body).toMatchObject({ code: 'not_found', field: 'id' });
  });

  test('a revocation and a rotation at once: in the end it is revoked', async () => {
    const { make, as, admin } = await startReplicas();
    for (let round = 0; round < 5; round++) {
      const { token, id } = await make({ role: 'owner' });
      const rotating = as(own, 1)('POST', `/v1/tokens/${id}/rotate`, { body: { overlapMinutes: 10 } });
      await admin('DELETE', `/v1/tokens/${id}`);
      const { body } = await rotating;
      for (const bearer of [token, body.token ?? token]) await untilStatus(as(bearer), 401);
    }
  });
});

describe('rotation', () => {
  test('a new secret is valid at once, and the old one no more', async () => {
    const { make, as, admin, stream } = await startReplicas();
    const { token, id } = await make({ role: 'owner' });
    const open = await stream(token, '/v1/events');
    const { body } = await admin('POST', `/v1/tokens/${id}/rotate`);
    expect(body).toMatchObject({ id, role: 'owner', status: 'active' });
    expect((await as(body.token)('GET', '/v1/sessions')).status).toBe(200);
    expect((await as(token)('GET', '/v1/sessions')).status).toBe(401);
    await open.ended;
    expect(open.messages.at(-1)?.data).toContain('replaced');
    await untilStatus(as(body.token, 1), 200);
  });

  test('with an overlap the old one stays for as long, and no longer than one rotation', async () => {
    const clock = movableClock();
    const { make, as, admin } = await startReplicas({}, clock);
    const { token: first, id } = await make({ role: 'owner' });
    const rotate = async () => (await admin('POST', `/v1/tokens/${id}/rotate`, { body: { overlapMinutes: 10 } })).body;
    const statuses = async (...tokens: string[]) =>
      Promise.all(tokens.map(async (token) => (await as(token)('GET', '/v1/sessions')).status));
    const second = await rotate();
    expect(second.oldSecretUntil).toBeGreaterThan(clock.now() + 590_000);
    expect(await statuses(first, second.token)).toEqual([200, 200]);
    const third = await rotate();
    expect(await statuses(first, second.token, third.token)).toEqual([401, 200, 200]);
    clock.advance(601_000);
    expect(await statuses(second.token, third.token)).toEqual([401, 200]);
  });

  test('of a token that has ended: no', async () => {
    const { make, admin } = await startReplicas();
    const { id } = await make({ role: 'owner' });
    await admin('DELETE', `/v1/tokens/${id}`);
    expect((await admin('POST', `/v1/tokens/${id}/rotate`)).body).toMatchObject({ status: 400, code: 'invalid', field: 'id' });
  });
});

test('A8/89: managing tokens is for administrators alone', async () => {
  const { make, as } = await startReplicas();
  const others = [
    { role: 'owner' },
    { role: 'read-only' },
    { role: 'approver' },
    { role: 'participant', principal: 'telegram:1' },
    { role: 'channel', namespace: 'telegram' },
  ];
  for (const wanted of others) {
    const { token, id } = await make(wanted);
    const calls = [
      as(token)('GET', '/v1/tokens'),
      as(token)('POST', '/v1/tokens', { body: { role: 'admin' } }),
      as(token)('DELETE', `/v1/tokens/${id}`),
      as(token)('POST', `/v1/tokens/${id}/rotate`),
      as(token)('DELETE', '/v1/tokens/nothing'),
    ];
    const answers = (await Promise.all(calls)).map(({ status, body }) => [status, body.code]);
    expect({ wanted, answers }).toEqual({ wanted, answers: Array(5).fill([403, 'forbidden']) });
  }
  const { token } = await make({ role: 'admin' });
  expect((await as(token)('POST', '/v1/tokens', { body: { role: 'admin' } })).status).toBe(201);
});

test('D11: a token is for the person whom its principal names, however the channel is spelt', async () => {
  const { make } = await startReplicas();
  expect(await make({ role: 'participant', principal: ' Telegram:Ab' })).toMatchObject({ principal: 'telegram:Ab' });
});

describe('tokens of the configuration', () => {
  const gateway = async () => {
    let now: Config = configOf();
    const current: Current<Config> = { current: () => now };
    const changeTokens = (change: (tokens: Config['gateway']['tokens']) => Config['gateway']['tokens']) => {
      now = { ...now, gateway: { ...now.gateway, tokens: change(now.gateway.tokens) } };
    };
    return { ...(await openGateway({ current })), changeTokens };
  };

  test('one that is taken out is out at once, on its open streams too, and the others are not', async () => {
    const { as, stream, changeTokens } = await gateway();
    const [open, others] = [await stream('second', '/v1/events'), await stream('ann', '/v1/events')];
    changeTokens(({ second: _, ...rest }) => rest);
    expect((await as.second('GET', '/v1/sessions')).status).toBe(401);
    await open.ended;
    expect(JSON.parse(open.messages.at(-1)?.data ?? '')).toMatchObject({ detail: 'this token was removed' });
    expect(others.messages).toEqual([]);
    expect((await as.ann('GET', '/v1/sessions')).status).toBe(200);
  });

  test('one that may do less is cut off, so that what is open is not more than it may', async () => {
    const { as, stream, changeTokens } = await gateway();
    const open = await stream('second', '/v1/events');
    changeTokens((tokens) => ({ ...tokens, second: { ...tokens.second, role: 'read-only' } as (typeof tokens)[string] }));
    await open.ended;
    expect((await as.second('POST', pathOf('agent:main:main', '/open'))).body.code).toBe('forbidden');
    expect((await as.second('GET', '/v1/sessions')).status).toBe(200);
  });

  test('a change that cannot be used changes nothing', async () => {
    const { as, changeTokens } = await gateway();
    changeTokens(({ second: _, ...rest }) => ({ ...rest, bad: { sha256: 'a'.repeat(64), role: 'channel' } }));
    expect((await as.second('GET', '/v1/sessions')).status).toBe(200);
  });
});

test('the broker is away when the gateway starts: tokens made before are let in once it is there', async () => {
  const { memory, make } = await startReplicas();
  const { token } = await make({ role: 'owner' });
  const ports = memory.portsFor('three');
  const watch = vi.fn(ports.tokens.watch).mockRejectedValueOnce(new Error('away'));
  const { openGateway: open, callerOf } = await import('../setup.ts');
  const { url } = await open({ ...ports, tokens: { ...ports.tokens, watch } });
  const early = await callerOf(url, token)('GET', '/v1/sessions');
  expect([200, 503]).toContain(early.status);
  await untilStatus(callerOf(url, token), 200);
  expect(watch).toHaveBeenCalledTimes(2);
});
