import { expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import { shownConfig } from '../../../../shared/runtime/config/shown.ts';

const providerKey = 'a-key-without-any-known-shape';
/** Secrets wherever a configuration can have one. One of them is a number, which other values have as well. */
const secrets = {
  gatewayToken: '128000',
  brokerPassword: 'broker-password',
  webhookPassword: 'webhook-password',
  webhookQuery: 'in-the-query-of-a-webhook',
  webhookPath: 'T0AAAAAAA/B0BBBBBBB/in-the-path-of-a-webhook',
  webhookKey: 'signs-the-webhook',
  telegram: '123456789:AAabcdefghijklmnopqrstuvwxyz0123456',
  skill: 'key-of-a-skill',
  header: 'in-a-header-of-mcp',
  providerKey,
};
const config = configSchema.parse({
  gateway: { token: secrets.gatewayToken },
  nats: {
    url: `nats://me:${secrets.brokerPassword}@broker.example:4222, nats://me:${secrets.brokerPassword}@other.example:4222`,
  },
  outlets: {
    webhooks: {
      one: { url: `https://me:${secrets.webhookPassword}@example.org/in`, secret: secrets.webhookKey },
      two: {
        ...{ url: `https://hooks.slack.com/services/${secrets.webhookPath}`, secret: secrets.webhookKey },
        statusUrl: `https://example.org/status?token=${secrets.webhookQuery}`,
      },
      three: { url: `https://api.telegram.org/bot${secrets.telegram}/send`, secret: secrets.webhookKey },
    },
  },
  model: {
    providers: {
      mine: { kind: 'openai-compatible', baseUrl: 'https://example.org', keyCommand: ['sh', '-c', `echo ${providerKey}`] },
    },
  },
  mcp: { servers: { wiki: { url: 'https://example.org/mcp', headersEnv: { Authorization: 'WIKI_HEADER' } } } },
  skills: { entries: { weather: { apiKey: secrets.skill } } },
}) as Config;

test('I12: a configuration is shown without any secret, wherever it is, and otherwise as it is', () => {
  const env = { 'key of mine': providerKey, WIKI_HEADER: secrets.header };
  const shown = shownConfig(config, env) as Config;
  const text = JSON.stringify({ ...shown, context: undefined });
  for (const [name, secret] of Object.entries(secrets)) expect(text, name).not.toContain(secret);
  expect(shown.nats.url).toBe('nats://[secret]@broker.example:4222, nats://[secret]@other.example:4222');
  expect(shown.model.providers.mine?.keyCommand).toEqual(['sh', '-c', 'echo [secret]']);
  expect(shown.context).toEqual(config.context);
  expect(shown.context.windowTokens).toBe(128_000);
});
