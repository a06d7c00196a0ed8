import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { startGateway } from '../../../../services/gateway/main.ts';
import type { Config } from '../../../../shared/domain/config/schema.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { fixed } from '../../../../shared/runtime/config/reload.ts';
import { callerOf, openBroker, token } from '../setup.ts';
import { configOf, digestOf, openGateway } from './access-rig.ts';

type Tokens = Config['gateway']['tokens'];
const sha256 = digestOf('some token');

describe('tokens', () => {
  test('A8/89: none but those of the configuration are let in', async () => {
    const { url } = await openGateway();
    const wrong = [null, 'ann', digestOf('token-of-ann'), 'token-of-annx', 'token-of-an', `${token}x`, token.slice(1), 'Bearer'];
    for (const bearer of wrong) {
      const { status, body } = await callerOf(url, bearer)('GET', '/v1/sessions');
      expect({ bearer, status, code: body.code }).toEqual({ bearer, status: 401, code: 'unauthorized' });
    }
    for (const bearer of [token, 'token-of-ann', 'token-of-telegram']) {
      expect((await callerOf(url, bearer)('GET', '/v1/sessions')).status).toBe(200);
      expect((await callerOf(url, bearer)('GET', '/metrics')).status).toBe(200);
    }
  });

  const many = Object.fromEntries(
    Array.from({ length: limits.accessTokens + 1 }, (_, i) => [`t${i}`, { sha256: digestOf(`${i}`), role: 'owner' } as const]),
  );
  const rows: readonly [what: string, tokens: Tokens, field: string, mend: RegExp][] = [
    ['a participant who is nobody', { a: { sha256, role: 'participant' } }, 'gateway.tokens.a.principal', /<channel>:<id>/],
    ['a stranger', { a: { sha256, role: 'participant', principal: 'zoe' } }, 'gateway.tokens.a.principal', /identityLinks/],
    ['a channel of all', { a: { sha256, role: 'channel' } }, 'gateway.tokens.a.namespace', /name the channel/],
    ['a pattern', { a: { sha256, role: 'channel', namespace: 'tele*' } }, 'gateway.tokens.a.namespace', /channel name/],
    ['a limited owner', { a: { sha256, role: 'owner', namespace: 'irc' } }, 'gateway.tokens.a.namespace', /remove it/],
    ['the own token again', { a: { sha256: digestOf(token), role: 'owner' } }, 'gateway.tokens.a.sha256', /make one for each/],
    [
      'one token twice',
      { a: { sha256, role: 'owner' }, b: { sha256, role: 'channel', namespace: 'irc' } },
      'gateway.tokens.b.sha256',
      /same token as a/,
    ],
    ['the name of the own token', { api: { sha256, role: 'owner' } }, 'gateway.tokens.api', /another one/],
    ['a name that is no name', { 'a b': { sha256, role: 'owner' } }, 'gateway.tokens.a b', /letters/],
    ['too many', many, 'gateway.tokens', /remove some/],
  ];
  test.each(rows)('A8/89-90: the gateway does not start with %s', async (_, tokens, field, mend) => {
    const config = configOf();
    const ports = openBroker().portsFor('gateway');
    const starting = startGateway({
      config: fixed({ ...config, gateway: { ...config.gateway, tokens } }),
      ports,
      log: pino({ level: 'silent' }),
      token,
      version: '0',
    });
    await expect(starting).rejects.toMatchObject({ code: 'invalid', field, message: expect.stringMatching(mend) });
  });
});
