import { afterEach, describe, expect, test, vi } from 'vitest';
import { createModels } from '../../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { anthropic, type Dialect, startProvider, stream } from '../../../support/provider-server.ts';
import { dialects, plantedKey, provide, request, take } from './rig.ts';

/** I12: where a provider's key goes, and where it does not. */

const answer = ({ begin, text, end }: Dialect) => stream(begin(), text('hello'), end('stop'));

describe.each(dialects)('%s', (_, dialect) => {
  test.each([301, 302, 303, 307, 308])('I12: a redirect (%s) is not followed: the key stays with the provider', async (code) => {
    const elsewhere = await provide(answer(dialect));
    const server = await provide((response) => {
      response.writeHead(code, { location: `${elsewhere.url}/x?token=canary-4711` }).end();
    });
    const { outcome } = await take(dialect, server);
    expect(elsewhere.requests).toEqual([]);
    expect(outcome).toMatchObject({ kind: 'failed', code: 'model_bad_request', message: expect.stringContaining('baseUrl') });
    expect(JSON.stringify(outcome)).not.toMatch(/canary|planted/);
    expect(server.requests).toHaveLength(1);
  });
});

describe('anthropic', () => {
  afterEach(() => vi.unstubAllEnvs());
  const modelOf = (provider: object) =>
    createModels(
      configSchema.parse({ model: { providers: { local: { kind: 'anthropic', ...provider } } } }),
      { PLANTED_KEY: plantedKey },
      systemClock,
    )('local/tiny');
  const ask = (provider: object) => modelOf(provider).step(request(), () => {}, new AbortController().signal);

  test('I12: a key that the configuration does not name is sent to nobody', async () => {
    const server = await provide(answer(anthropic));
    vi.stubEnv('ANTHROPIC_API_KEY', 'ambient-canary-key');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'ambient-canary-token');
    expect(await ask({ baseUrl: server.url })).toMatchObject({ kind: 'reply', text: 'hello' });
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('ambient');
  });
  test('I12: nor a key of ours to an address that it does not name', async () => {
    const server = await startProvider(answer(anthropic));
    vi.stubEnv('ANTHROPIC_BASE_URL', server.url);
    const stop = new AbortController();
    vi.stubGlobal('fetch', async (url: string) => {
      expect(String(url)).toMatch(/^https:\/\/api\.anthropic\.com\/v1\//);
      stop.abort();
      throw new TypeError('not in a test');
    });
    await modelOf({ apiKeyEnv: 'PLANTED_KEY' }).step(request(), () => {}, stop.signal);
    vi.unstubAllGlobals();
    server.close();
    expect([server.requests.length, stop.signal.aborted]).toEqual([0, true]);
  });
});
